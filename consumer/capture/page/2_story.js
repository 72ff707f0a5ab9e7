// What Storybook says on its channel of the story it was asked for, from the first word to the last;
// and the asking for another one in the same document.
const MESSAGE_CHARS = 4_000;
const STACK_CHARS = 20_000;
const SHOT_CHARS = 60;
const MAX_SHOTS = 50; // names of a story's own pictures that are told
const PLAY_ERROR_GRACE_MS = 1_000; // after a failed play function some versions say nothing more
const PREVIEW_START_MS = 8_000; // a preview that has loaded and made no channel by then never will

const story = (() => {
  const asked = new URLSearchParams(location.search);
  const wish = (name) => {
    try { return JSON.parse(asked.get(`storyshelf-${name}`)); } catch { return null; }
  };
  const wishes = window === window.top ? { globals: wish("globals"), args: wish("args"), shot: wish("shot") } : {};
  // One story's time on the page: what was heard of it, and when it is drawn and over.
  const turnOf = (wanted) => {
    const turn = { wanted, heard: { events: {}, phase: "", error: null, late: null, shots: [], declared: null } };
    turn.ended = new Promise((resolve) => { turn.end = resolve; });
    turn.drawn = new Promise((resolve) => { turn.draw = resolve; });
    return turn;
  };
  let turn = turnOf(asked.get("id"));
  let channel;
  const isOurs = (id) => id === undefined || turn.wanted === null || id === turn.wanted;

  const described = (kind, error) => ({
    kind,
    message: String(error?.message ?? error?.description ?? error?.title ?? error).slice(0, MESSAGE_CHARS),
    name: String(error?.name ?? "").slice(0, 100),
    stack: String(error?.stack ?? "").slice(0, STACK_CHARS),
  });
  const fail = (kind, error, where = "") => {
    if (turn.heard.error) return;
    const told = described(kind, error);
    turn.heard.error = { ...told, message: (where + told.message).slice(0, MESSAGE_CHARS) };
  };
  const failed = (kind) => (error) => { fail(kind, error); turn.end(); };
  // 8.6 and later say storyFinished, after the story's afterEach; what came before says no more.
  const saysFinished = () =>
    "STORY_FINISHED" in (window.__STORYBOOK_MODULE_CORE_EVENTS__ ?? window.STORYBOOK_CORE_EVENTS ?? {})
    || ["completing", "afterEach", "finished"].includes(turn.heard.phase);

  // A story sees the same clock and draws the same numbers whatever was loaded or shown before it.
  const startAnew = () => {
    clock.again();
    chance.again();
  };
  const LISTENERS = {
    storyRenderPhaseChanged: ({ newPhase, storyId }) => {
      if (!isOurs(storyId)) return;
      turn.heard.phase = String(newPhase).slice(0, 40);
      if (newPhase === "loading" || newPhase === "rendering") startAnew();
      if (newPhase === "loading") residue.look(); // the story before is gone, and nothing is drawn yet
      if (newPhase === "completing") turn.draw();
    },
    storyRendered: (id) => { if (isOurs(id) && !saysFinished()) turn.end(); },
    storyFinished: ({ storyId, reporters }) => {
      if (!isOurs(storyId)) return;
      accessibility.note(storyId, reporters);
      turn.end();
    },
    docsRendered: () => turn.end(),
    storyMissing: (id) => failed("missing_story")({ message: `Storybook knows no story ${id ?? turn.wanted}` }),
    storyErrored: failed("render_failed"),
    storyThrewException: failed("render_failed"),
    configError: failed("config_failed"),
    playFunctionThrewException: (error) => {
      fail("play_failed", error, stepOf(error));
      real.setTimeout(turn.end, PLAY_ERROR_GRACE_MS);
    },
    unhandledErrorsWhilePlaying: (errors) => fail("play_failed", errors?.[0]),
  };
  // A play function's failure names the step it happened in: each story gets the project's step runner.
  const failedSteps = new WeakMap(); // error: the names of the steps around it, innermost first
  let lastFailed = null;
  const watchSteps = () => {
    const preview = window.__STORYBOOK_PREVIEW__;
    const project = (preview?.storyStoreValue ?? preview?.storyStore)?.projectAnnotations;
    const runStep = project?.runStep;
    if (typeof runStep !== "function") return;
    project.runStep = async (label, ...others) => {
      try { return await runStep(label, ...others); } catch (error) {
        if (error instanceof Error) {
          failedSteps.set(error, [...(failedSteps.get(error) ?? []), String(label).slice(0, 100)].slice(0, 5));
          lastFailed = error;
        }
        throw error;
      }
    };
  };
  const stepOf = (told) => {
    const isIt = lastFailed && lastFailed.message === told?.message; // the event brings a copy of it
    return isIt ? `in the step ${[...failedSteps.get(lastFailed)].reverse().join(" › ")}: ` : "";
  };
  // A wish is said once, and in time: before the story renders, so that it renders and plays once.
  const say = (event, name, payload) => {
    if (!wishes[name]) return;
    wishes[name] = null;
    channel.emit(event, payload);
  };
  const OCCASIONS = {
    setGlobals: () => {
      watchSteps();
      say("updateGlobals", "globals", { globals: wishes.globals });
    },
    storyPrepared: ({ id, parameters: asked }) => {
      if (id !== turn.wanted) return;
      const shots = asked?.storyshelf?.shots;
      turn.heard.declared = Array.isArray(shots) ? shots.slice(0, MAX_SHOTS).map(String) : [];
      say("updateStoryArgs", "args", { storyId: id, updatedArgs: wishes.args });
    },
  };
  // A story's own pictures: its play function asks for each, and goes no further than the one that is
  // wanted, which is the end of the story. Nothing here tells Storybook of a test.
  const shot = async (asked) => {
    const name = String(asked).slice(0, SHOT_CHARS);
    const { shots } = turn.heard;
    if (!shots.includes(name) && shots.length < MAX_SHOTS) shots.push(name);
    if (name !== wishes.shot) return;
    turn.end();
    await new Promise(() => {});
  };
  if (window === window.top) {
    Object.defineProperty(window, "storyshelf", {
      configurable: true, // a story may have a global of that name
      writable: true,
      value: Object.freeze({ shot }),
    });
  }
  const listen = (made) => {
    if (!made || made === channel) return;
    channel = made;
    for (const [name, listener] of Object.entries(LISTENERS)) {
      channel.on(name, (...args) => {
        turn.heard.events[name] = (turn.heard.events[name] ?? 0) + 1;
        listener(...args);
      });
    }
    for (const [name, occasion] of Object.entries(OCCASIONS)) channel.on(name, occasion);
  };
  Object.defineProperty(window, "__STORYBOOK_ADDONS_CHANNEL__", {
    configurable: true,
    enumerable: true,
    get: () => channel,
    set: listen,
  });
  window.addEventListener("error", (event) => { turn.heard.late ??= described("script", event.error ?? event); });
  window.addEventListener("unhandledrejection", (event) => { turn.heard.late ??= described("script", event.reason); });
  window.addEventListener("load", () => real.setTimeout(() => {
    if (channel) return;
    fail("config_failed", turn.heard.late ?? { message: "the preview did not start: no Storybook channel" });
    turn.end();
  }, PREVIEW_START_MS));

  const forget = (act) => { try { act(); } catch { /* a page may have no storage */ } };
  return {
    // Shows another story in this document; all that is heard from here on is of that one.
    begin(id) {
      const isSame = turn.wanted === id;
      turn = turnOf(id);
      document.activeElement?.blur?.();
      getSelection()?.removeAllRanges();
      forget(() => { localStorage.clear(); sessionStorage.clear(); });
      readiness.resume();
      channel.emit(isSame ? "forceRemount" : "setCurrentStory", { storyId: id, viewMode: "story" });
    },
    // Resolves when the story has come to an end of its own, or after that time, whichever is first.
    async ended(withinMs) {
      const { drawn, ended } = turn;
      const late = new Promise((resolve) => { real.setTimeout(() => resolve("late"), withinMs); });
      // Storybook 9.1 and later wait 100 ms for animations, once the story is drawn and has played.
      await Promise.race([drawn.then(() => readiness.ahead()), ended, late]);
      return (await Promise.race([ended, late])) === "late" ? "late" : "ended";
    },
    showsDocs: () => (turn.heard.events.docsRendered ?? 0) > 0,
    report: () => ({
      ...turn.heard,
      left: residue.left(),
      shows: Array.from(document.body?.classList ?? []).filter((name) => name.startsWith("sb-show-")).slice(0, 10),
      display: String(document.querySelector(".sb-errordisplay")?.innerText ?? "").slice(0, MESSAGE_CHARS),
    }),
  };
})();
