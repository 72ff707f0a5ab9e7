import { useEffect, useRef, useState } from 'react';
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

/** Sixty million pixels. */
export const HugePage = {
  render: () => (
    <div style={{ width: 3000, height: 20000, background: 'linear-gradient(#14a44d, #e8eef8)' }} />
  ),
};

const Revealed = ({ children }) => {
  const box = useRef(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry.isIntersecting && setSeen(true));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} style={{ minHeight: 60 }}>
      {seen && children}
    </div>
  );
};

/** Drawn once it is seen; the picture is as tall as the page, so all of it is. */
export const RevealedBelowTheFold = {
  render: () => (
    <>
      <div style={{ width: 200, height: 2000, background: '#e8eef8' }} />
      <Revealed>
        <Swatch />
      </Revealed>
    </>
  ),
};

const ROW_PX = 50;
const ROWS = 1000;

/** A list that draws only what its window shows. */
const VirtualList = () => {
  const [top, setTop] = useState(0);
  const first = Math.floor(top / ROW_PX);
  return (
    <div
      style={{ height: 300, width: 300, overflow: 'auto' }}
      onScroll={({ target }) => setTop(target.scrollTop)}
    >
      <div style={{ height: ROWS * ROW_PX, position: 'relative' }}>
        {Array.from({ length: 7 }, (_, at) => (
          <div
            key={first + at}
            style={{ position: 'absolute', top: (first + at) * ROW_PX, height: ROW_PX, left: 0, right: 0 }}
          >
            row {first + at}
          </div>
        ))}
      </div>
    </div>
  );
};

export const Virtualised = { render: () => <VirtualList /> };

export const StickyHeadOfATable = {
  render: () => (
    <table style={{ width: 300 }}>
      <thead>
        <tr>
          <th className="marker" style={{ position: 'sticky', top: 0 }}>
            head
          </th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <td style={{ height: 2000, background: '#e8eef8' }} />
        </tr>
      </tbody>
    </table>
  ),
};

export const AsTallAsTheWindow = {
  render: () => (
    <div style={{ minHeight: '100vh', width: 300, background: '#e8eef8' }}>
      <Swatch />
    </div>
  ),
};
