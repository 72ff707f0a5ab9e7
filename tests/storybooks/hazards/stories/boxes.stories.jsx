import { createPortal } from 'react-dom';

import { Swatch } from './parts';

export default { title: 'Hazards/Boxes' };

export const RendersNothing = { render: () => null };

export const EmptyRootWithPortal = {
  render: () =>
    createPortal(
      <div className="marker" style={{ position: 'fixed', left: 500, top: 300, width: 200 }}>
        on the body
      </div>,
      document.body,
    ),
};

export const DisplayContents = {
  render: () => (
    <div style={{ display: 'contents' }}>
      <div className="marker">child of a box that is none</div>
    </div>
  ),
};

export const OnlyAbsoluteChild = {
  render: () => (
    <div style={{ position: 'relative' }}>
      <div className="marker" style={{ position: 'absolute', left: 120, top: 90, width: 240 }}>
        out of the flow
      </div>
    </div>
  ),
};

export const FixedHeaderOnALongPage = {
  render: () => (
    <>
      <div className="marker" style={{ position: 'fixed', left: 0, right: 0, top: 0 }}>
        header
      </div>
      <div style={{ height: 2400, background: '#e8eef8' }} />
      <Swatch />
    </>
  ),
};

/** Twenty thousand pixels, striped so that a repeated or lost tile shows; the last band is green. */
export const TallPage = {
  render: () => (
    <div style={{ width: 400 }}>
      {Array.from({ length: 199 }, (_, band) => (
        <div key={band} style={{ height: 100, background: `hsl(${band} 30% 88%)` }}>
          {band}
        </div>
      ))}
      <div style={{ height: 100, background: '#14a44d' }} />
    </div>
  ),
};

export const LazyImageBelowTheFold = {
  render: () => (
    <>
      <div style={{ height: 3000, width: 200, background: '#e8eef8' }} />
      <img loading="lazy" src="./plate.svg" alt="" width="120" height="80" />
    </>
  ),
};
