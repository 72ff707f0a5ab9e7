import { Afterwards } from './parts';

export default { title: 'Hazards/Hangs' };

/** Writes where everybody can see it: an empty loop is dropped by the minifier. */
const spinForEver = () => {
  for (globalThis.turns = 0; ; ) globalThis.turns += 1;
};

const Spinning = () => {
  spinForEver();
  return null;
};

export const LoopsInRender = { render: () => <Spinning /> };

export const LoopsInTimer = {
  render: () => <Afterwards act={() => void setTimeout(spinForEver, 50)} />,
};

export const LoopsInPlay = { render: () => <p>before</p>, play: async () => spinForEver() };

const MEGABYTES = 3072;

/** Three gigabytes of live numbers, which no renderer should be given. */
const Hoarder = () => {
  const kept = [];
  for (let megabyte = 0; megabyte < MEGABYTES; megabyte += 1) {
    kept.push(Float64Array.from({ length: 131_072 }, () => megabyte + 0.5));
  }
  globalThis.kept = kept;
  return <p>kept {kept.length} MB</p>;
};

export const Hoards = { render: () => <Hoarder /> };

/** Past the largest array V8 can grow, which it answers by ending the process, in about a second. */
const Crasher = () => {
  const grown = [];
  for (;;) grown.push(0);
};

export const Crashes = { render: () => <Crasher /> };
