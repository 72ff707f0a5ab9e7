// As much of a Storybook preview as a capture can tell from a real one; the test writes STORIES.
const stories = STORIES;
const channel = (() => {
  const listeners = {};
  return {
    on: (name, listener) => { (listeners[name] ??= []).push(listener); },
    emit: (name, ...args) => { for (const each of listeners[name] ?? []) each(...args); },
  };
})();
window.__STORYBOOK_ADDONS_CHANNEL__ = channel;
const show = (name) => { document.body.className = `sb-show-${name}`; };
let id = new URLSearchParams(location.search).get("id");
const fail = (event, error) => {
  document.querySelector(".sb-errordisplay").innerText = error.message;
  show("errordisplay");
  channel.emit(event, error);
};
window.__STORYBOOK_PREVIEW__ = {
  ready: async () => {},
  storyStoreValue: {
    storyIndex: {
      entries: Object.fromEntries(
        Object.keys(stories).map((id) => [id, { id, type: "story", importPath: id }]),
      ),
    },
    loadStory: async ({ storyId }) => {
      if (stories[storyId].broken) throw new Error("this file does not load");
      return { parameters: stories[storyId].parameters ?? {} };
    },
  },
  async extract() {
    const load = async (storyId) => [storyId, await this.storyStoreValue.loadStory({ storyId })];
    return Object.fromEntries(await Promise.all(Object.keys(stories).map(load)));
  },
};
const phase = (newPhase) => channel.emit("storyRenderPhaseChanged", { newPhase, storyId: id });
// As in 7 to 10: globals may be updated once they are set, args once the story is prepared.
let globals = { theme: "light" };
let args = { label: "plain" };
channel.on("updateGlobals", (update) => { globals = { ...globals, ...update.globals }; });
channel.on("updateStoryArgs", ({ storyId, updatedArgs }) => {
  if (storyId === id) args = { ...args, ...updatedArgs };
});
const run = async () => {
  const story = stories[id];
  channel.emit("setGlobals", { globals, globalTypes: {} });
  if (!story) { fail("storyMissing", new Error(`no story ${id}`)); return; }
  channel.emit("storyPrepared", { id, parameters: story.parameters, initialArgs: args, args });
  const reporters = []; // what an addon would say of the story
  phase("loading");
  phase("rendering");
  show("main");
  try {
    await story.render(document.getElementById("storybook-root"), { globals, args, reporters });
  } catch (error) {
    fail("storyThrewException", error);
    channel.emit("storyFinished", { storyId: id, status: "error" });
    return;
  }
  try {
    phase("playing");
    await story.play?.();
  } catch (error) {
    channel.emit("playFunctionThrewException", error);
  }
  phase("completed");
  channel.emit("storyRendered", id);
  phase("finished");
  channel.emit("storyFinished", { storyId: id, status: "success", reporters });
};
// The story before is taken down, as its framework would do it.
const change = ({ storyId }) => {
  id = storyId;
  document.getElementById("storybook-root").replaceChildren();
  run();
};
channel.on("setCurrentStory", change);
channel.on("forceRemount", change);
run();
