// Time stands still and chance repeats, in every frame, before any script of the page runs.
const isRealTime = wished.time === "real";
const EPOCH_MS = wished.time === null || isRealTime
  ? Date.UTC(2024, 4, 15, 12, 0, 0) // a Wednesday at noon: far from every boundary
  : Number(wished.time);
const FROZEN_READS = 10_000; // a loop that waits for time to pass reads more often than any page draws
const SEED = 0x5f3759df;

const real = {
  now: performance.now.bind(performance),
  setTimeout: window.setTimeout.bind(window),
  clearTimeout: window.clearTimeout.bind(window),
  setInterval: window.setInterval.bind(window),
  frame: window.requestAnimationFrame.bind(window),
  microtask: window.queueMicrotask.bind(window),
};
// A moment is what the callback in hand is told of time: how much has passed, in milliseconds, what
// of it a calendar shows, and how many frames led to it.
const START = { ms: 0, shownMs: 0, turns: 0 };

const clock = (() => {
  let moment = null; // none: nothing that was promised a time is running
  let reads = 0;
  const realNow = Date.now.bind(Date);
  const back = () => { moment = null; };
  const waited = () => Math.max(0, ++reads - FROZEN_READS);
  return {
    again() { reads = 0; },
    moment: () => moment,
    now: () => (isRealTime ? realNow() : EPOCH_MS + Math.round((moment ?? START).shownMs) + waited()),
    passed: () => (isRealTime ? real.now() : (moment ?? frames.last()).ms + waited()),
    after(delayMs) {
      const from = moment ?? START;
      const byMs = Math.max(0, Number(delayMs) || 0);
      return { ms: from.ms + byMs, shownMs: from.shownMs + byMs, turns: from.turns };
    },
    // Microtasks that the callback queued (an awaited timeout) still see its time.
    run(at, callback, self, args) {
      moment = at;
      try { return callback.apply(self, args); } finally { real.microtask(back); }
    },
  };
})();
performance.now = function now() { return clock.passed(); };

window.setTimeout = function setTimeout(handler, delayMs, ...args) {
  if (typeof handler !== "function") return real.setTimeout(handler, delayMs);
  const at = clock.after(delayMs);
  return real.setTimeout(() => clock.run(at, handler, window, args), delayMs);
};

// What is repeated sees time pass, or what it waits for would not come; a calendar stands still in it,
// or it would tell how often.
window.setInterval = function setInterval(handler, delayMs, ...args) {
  if (typeof handler !== "function") return real.setInterval(handler, delayMs);
  let at = { ...clock.after(0) };
  return real.setInterval(() => {
    at = { ...at, ms: at.ms + Math.max(0, Number(delayMs) || 0) };
    clock.run(at, handler, window, args);
  }, delayMs);
};

// A frame is told the time that a steady screen would have shown it at, counted from what asked for
// it, whatever the machine does. Once the story is done, what still asks for frames gets them without
// a screen, as fast as it takes them: an animation that ends comes to its end, and a loop that has
// none is held after the same number of turns in every page.
// While a picture is taken frames are held back, not lost: a library that never gets the frame it
// asked for would ask for none again, in no story after this one.
const FRAME_MS = 1_000 / 60;
const MOST_TURNS = 180; // three seconds: longer than entrances are, and no loop looks better after it
const MOST_WAITS = 3; // turns in a row of a script that only waits for the page to be laid out
const IDLE_FRAMES = 3; // of the screen, with nothing asked for: what comes then is something new
const IDLE_TASKS = 5; // of the page: a library may take some from a frame to asking for the next

const frames = (() => {
  const waiting = new Map(); // callbacks and their moments, by the number that cancels them
  let numbers = 0;
  let calls = 0;
  let runs = true;
  let isLimited = false; // true: the story is done, and loops have had their turns
  // What asks outside of any frame goes on where a callback of the same text was: a library may make
  // a new one for each frame, in a task of its own.
  const lasts = new Map();
  let last = START; // of a chain that is more than a wait for the next layout
  const forget = () => { lasts.clear(); last = START; };
  const text = Function.prototype.toString;

  const isDue = ({ at }) => runs && !(isLimited && at.turns > MOST_TURNS);
  const call = (number) => {
    const { callback, at } = waiting.get(number);
    waiting.delete(number);
    lasts.set(text.call(callback), at);
    if (at.turns > MOST_WAITS) last = at;
    calls += 1;
    try {
      clock.run(at, callback, window, [at.ms]);
    } finally {
      if (!waiting.size) forgetLast(calls, IDLE_FRAMES);
    }
  };
  const forgetLast = (seen, left) => real.frame(() => {
    if (calls !== seen || waiting.size) return;
    if (left) forgetLast(seen, left - 1); else forget();
  });
  const ask = (number) => real.frame(() => {
    const one = waiting.get(number);
    if (one && isDue(one)) call(number);
  });
  window.requestAnimationFrame = function requestAnimationFrame(callback) {
    if (typeof callback !== "function") return real.frame(callback); // which refuses it
    const from = clock.moment() ?? lasts.get(text.call(callback)) ?? START;
    const ms = from.ms + FRAME_MS;
    waiting.set(++numbers, { callback, at: { ms, shownMs: ms, turns: from.turns + 1 } });
    ask(numbers);
    return numbers;
  };
  window.cancelAnimationFrame = function cancelAnimationFrame(number) { waiting.delete(number); };

  const tasks = new MessageChannel();
  const nextTask = () => new Promise((resolve) => {
    tasks.port1.onmessage = resolve;
    tasks.port2.postMessage(null);
  });
  const due = () => Array.from(waiting.keys()).filter((number) => isDue(waiting.get(number)));
  return {
    last: () => last,
    areAsked: () => due().length > 0,
    // Returns whether all that is due has had its turns in time.
    async drain(withinMs) {
      const untilMs = real.now() + withinMs;
      isLimited = true;
      for (let idle = 0; runs && idle < IDLE_TASKS;) {
        if (real.now() > untilMs) return false;
        const numbers = due();
        idle = numbers.length ? 0 : idle + 1;
        for (const number of numbers) {
          if (!waiting.has(number)) continue; // one before it has cancelled it
          try { call(number); } catch (error) { reportError(error); }
        }
        await nextTask();
      }
      forget(); // what is asked for from here on, by another size, is something new
      return true;
    },
    hold() { runs = false; },
    resume() {
      runs = true;
      isLimited = false;
      forget();
      for (const [number, one] of waiting) {
        one.at = { ms: FRAME_MS, shownMs: FRAME_MS, turns: 1 };
        ask(number);
      }
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
