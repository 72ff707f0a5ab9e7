// A story that floods its console would drown whoever listens to it, and every later answer with it.
const BURST = 300; // lines at once, more than is kept of a story; as many again each second
const LONGEST = 10_000; // characters of a text, more than is kept of a line

const mayBeSaid = (() => {
  let left = BURST;
  let sinceMs = real.now();
  return () => {
    const nowMs = real.now();
    left = Math.min(BURST, left + ((nowMs - sinceMs) * BURST) / 1_000);
    sinceMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
})();
const cut = (said) => (typeof said === "string" && said.length > LONGEST ? said.slice(0, LONGEST) : said);

for (const name of ["debug", "dir", "dirxml", "error", "info", "log", "table", "trace", "warn"]) {
  const say = console[name];
  console[name] = (...said) => { if (mayBeSaid()) say.apply(console, said.map(cut)); };
}
const assertAloud = console.assert;
console.assert = (holds, ...said) => {
  if (!holds && mayBeSaid()) assertAloud.call(console, holds, ...said.map(cut));
};
