// Time stands still and chance repeats, in every frame, before any script of the page runs.
const EPOCH_MS = Date.UTC(2024, 4, 15, 12, 0, 0); // a Wednesday at noon: far from every boundary
const FROZEN_READS = 10_000; // a loop that waits for time to pass reads more often than any page draws
const SEED = 0x5f3759df;

const real = {
  now: performance.now.bind(performance),
  setTimeout: window.setTimeout.bind(window),
  clearTimeout: window.clearTimeout.bind(window),
  frame: window.requestAnimationFrame.bind(window),
  cancelFrame: window.cancelAnimationFrame.bind(window),
  microtask: window.queueMicrotask.bind(window),
};
const clock = (() => {
  let offsetMs = 0; // what the callback in hand was promised
  let reads = 0;
  const back = () => { offsetMs = 0; };
  return {
    again() { reads = 0; },
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

// While a picture is taken, frames are held back, not lost: a library that never gets the frame it
// asked for would ask for none again, in no story after this one.
const frames = (() => {
  const startedMs = real.now();
  const held = new Map(); // callbacks by the number that cancels them
  let run = true;
  const call = (callback, atMs) => {
    clock.run(Math.max(0, atMs - startedMs), callback, window, [atMs]);
  };
  window.requestAnimationFrame = function requestAnimationFrame(callback) {
    const id = real.frame((atMs) => {
      if (run) call(callback, atMs); else held.set(id, callback);
    });
    return id;
  };
  window.cancelAnimationFrame = function cancelAnimationFrame(id) {
    held.delete(id);
    real.cancelFrame(id);
  };
  const release = (id) => real.frame((atMs) => {
    const callback = held.get(id);
    if (callback && held.delete(id)) call(callback, atMs);
  });
  return {
    hold() { run = false; },
    resume() {
      run = true;
      for (const id of held.keys()) release(id);
    },
  };
})();

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
const sequence = (seed) => {
  let state = seed;
  return {
    again() { state = seed; },
    draw() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
};
const numbers = sequence(SEED);
const bytes = sequence(~SEED); // of its own: ids drawn by a library do not shift a story's numbers
Math.random = function random() { return numbers.draw(); };
// What a story draws does not depend on what was drawn before it, by the preview or another story.
const chance = { again() { numbers.again(); bytes.again(); } };

const fill = (array) => { for (let at = 0; at < array.length; at++) array[at] = bytes.draw() * 256; };
const realValues = Crypto.prototype.getRandomValues;
Crypto.prototype.getRandomValues = function getRandomValues(array) {
  realValues.call(this, array); // refuses what may not be filled
  fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return array;
};
Crypto.prototype.randomUUID = function randomUUID() {
  const drawn = new Uint8Array(16);
  fill(drawn);
  drawn[6] = (drawn[6] & 0x0f) | 0x40;
  drawn[8] = (drawn[8] & 0x3f) | 0x80;
  const hex = Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};
