import Part from './Part.svelte';

const part =
  (kind) =>
  ({ text }, { loaded }) => ({ Component: Part, props: { kind, text: loaded?.text ?? text } });

export const drawn = Object.fromEntries(
  ['swatch', 'label', 'counter', 'faulty', 'faultyAfterwards', 'nothing', 'entrance', 'portal'].map(
    (kind) => [kind, part(kind)],
  ),
);
