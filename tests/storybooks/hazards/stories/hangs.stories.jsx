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
const NUMBERS_PER_MEGABYTE = 131_072;

/** Three gigabytes of live numbers: more than a renderer should be given. */
const Hoarder = () => {
  const kept = [];
  for (let megabyte = 0; megabyte < MEGABYTES; megabyte += 1) {
    kept.push(new Array(NUMBERS_PER_MEGABYTE).fill(megabyte + 0.5));
  }
  globalThis.kept = kept;
  return <p>kept {kept.length} MB</p>;
};

export const Hoards = { render: () => <Hoarder /> };

/** An array longer than V8 can make while parsing, which it answers by ending the process. */
const Crasher = () => {
  globalThis.parsed = JSON.parse(`[${'0,'.repeat(2 ** 27)}0]`);
  return null;
};

export const Crashes = { render: () => <Crasher /> };
