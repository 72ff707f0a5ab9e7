// Time stands still and chance repeats, in every frame, before any script of the page runs.
const EPOCH_MS = Date.UTC(2024, 4, 15, 12, 0, 0); // a Wednesday at noon: far from every boundary
const FROZEN_READS = 10_000; // a loop that waits for time to pass reads more often than any page draws
const SEED = 0x5f3759df;

const real = {
  now: performance.now.bind(performance),
  setTimeout: window.setTimeout.bind(window),
  clearTimeout: window.clearTimeout.bind(window),
  frame: window.requestAnimationFrame.bind(window),
  microtask: window.queueMicrotask.bind(window),
};
let framesRun = true;

const clock = (() => {
  let offsetMs = 0; // what the callback in hand was promised
  let reads = 0;
  const back = () => { offsetMs = 0; };
  return {
    now: () => EPOCH_MS + Math.round(offsetMs) + Math.max(0, ++reads - FROZEN_READS),
    promised: (delayMs) => offsetMs + Math.max(0, Number(delayMs) || 0),
    // Microtasks that the callback queued (an awaited timeout) still see its time.
    run(atMs, callback, self, args) {
      offsetMs = atMs;
      try { return callback.apply(self, args); } finally { real.microtask(back); }
    },
  };
})();

window.setTimeout = function setTimeout(handler, delayMs, ...args) {
  if (typeof handler !== "function") return real.setTimeout(handler, delayMs);
  const atMs = clock.promised(delayMs);
  return real.setTimeout(() => clock.run(atMs, handler, window, args), delayMs);
};

const startedMs = real.now();
window.requestAnimationFrame = function requestAnimationFrame(callback) {
  return real.frame((atMs) => {
    if (framesRun) clock.run(Math.max(0, atMs - startedMs), callback, window, [atMs]);
  });
};

const RealDate = Date;
const FrozenDate = new Proxy(RealDate, {
  construct: (target, args, asked) =>
    Reflect.construct(target, args.length ? args : [clock.now()], asked === FrozenDate ? target : asked),
  apply: () => new RealDate(clock.now()).toString(),
});
RealDate.now = clock.now;
RealDate.prototype.constructor = FrozenDate;
window.Date = FrozenDate;

for (const name of ["format", "formatToParts"]) {
  const own = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, name);
  const at = (asked) => (asked === undefined ? clock.now() : asked);
  Object.defineProperty(Intl.DateTimeFormat.prototype, name, own.get
    ? { ...own, get() { const format = own.get.call(this); return (date) => format(at(date)); } }
    : { ...own, value(date) { return own.value.call(this, at(date)); } });
}

if (window.Temporal) {
  const zoned = (zone) => Temporal.Instant.fromEpochMilliseconds(clock.now())
    .toZonedDateTimeISO(zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  Object.assign(Temporal.Now, {
    instant: () => Temporal.Instant.fromEpochMilliseconds(clock.now()),
    zonedDateTimeISO: zoned,
    plainDateTimeISO: (zone) => zoned(zone).toPlainDateTime(),
    plainDateISO: (zone) => zoned(zone).toPlainDate(),
    plainTimeISO: (zone) => zoned(zone).toPlainTime(),
  });
}

// mulberry32: small, even, and the same everywhere.
const repeating = (state) => () => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};
Math.random = repeating(SEED);

// A sequence of its own: ids drawn by a library do not shift the numbers a story draws.
const drawByte = repeating(~SEED);
const fill = (bytes) => { for (let at = 0; at < bytes.length; at++) bytes[at] = drawByte() * 256; };
const realValues = Crypto.prototype.getRandomValues;
Crypto.prototype.getRandomValues = function getRandomValues(array) {
  realValues.call(this, array); // refuses what may not be filled
  fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return array;
};
Crypto.prototype.randomUUID = function randomUUID() {
  const bytes = new Uint8Array(16);
  fill(bytes);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};
