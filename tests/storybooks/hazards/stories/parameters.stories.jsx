import { Swatch, TurnsGood } from './parts';

export default { title: 'Hazards/Parameters', render: () => <Swatch /> };

const afterMs = (ms) => (turnGood) => {
  const timer = setTimeout(turnGood, ms);
  return () => clearTimeout(timer);
};
const after150Ms = afterMs(150);

export const Disabled = { parameters: { storyshelf: { disableSnapshot: true } } };

export const DisabledForChromatic = { parameters: { chromatic: { disableSnapshot: true } } };

export const EnabledOverChromatic = {
  parameters: { storyshelf: { disableSnapshot: false }, chromatic: { disableSnapshot: true } },
};

export const Viewports = {
  parameters: { chromatic: { viewports: [320, 1200] } },
  render: () => <div style={{ height: 40, background: '#14a44d' }} />,
};

export const Delay = {
  parameters: { chromatic: { delay: 200 } },
  render: () => <TurnsGood trigger={after150Ms} />,
};

export const DelayOfOurOwn = {
  parameters: { storyshelf: { delay: 200 } },
  render: () => <TurnsGood trigger={after150Ms} />,
};

export const DiffThreshold = { parameters: { storyshelf: { diffThreshold: 0.2 } } };

export const ThresholdOutOfRange = { parameters: { storyshelf: { diffThreshold: 'wide open' } } };

const knot = { name: 'knot', tie: () => knot };
knot.self = knot;

export const FunctionsAndCycles = { parameters: { knot, storyshelf: { note: knot } } };

export const FiveMegabytes = { parameters: { ballast: 'x'.repeat(5_000_000) } };

export const NodesOfADocument = {
  parameters: { host: document.body, storyshelf: { note: document.createElement('p') } },
};

const phone = { name: 'Phone', styles: { width: '390px', height: '844px' } };

export const NamedViewport = {
  parameters: { viewport: { options: { phone } }, storyshelf: { viewports: ['phone', 'nobody'] } },
};

export const ViewportByNumber = {
  globals: { viewport: { value: 1200 } },
};

export const ModesOfManyNames = {
  parameters: {
    storyshelf: { modes: { 'a/b:c': { viewport: 320 }, '😀 ünï': { colorScheme: 'dark' }, off: { disable: true } } },
  },
};

const scheme = `.schemed { background: #d81e3f }
@media (prefers-color-scheme: dark) { .schemed { background: #14a44d } }`;

export const DarkScheme = {
  parameters: { storyshelf: { colorScheme: 'dark' } },
  render: () => (
    <>
      <style>{scheme}</style>
      <div className="schemed" style={{ width: 160, height: 60 }} />
    </>
  ),
};
