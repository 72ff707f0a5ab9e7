// Reads what stories ask for. Only known keys leave the page: parameters hold functions, cycles, DOM
// nodes, and megabytes of somebody's data.
const parameters = (() => {
  const KEYS = ["disableSnapshot", "delay", "viewports", "diffThreshold"];
  const MAX_TEXT = 200;
  const MAX_ITEMS = 50;
  const MAX_FAILED = 40;
  const scalar = (value) => {
    if (typeof value === "string") return value.slice(0, MAX_TEXT);
    if (typeof value === "boolean" || Number.isFinite(value) || value === null) return value;
    return `[${typeof value}]`; // says what stood there, so that its author can be told
  };
  const item = (value) => (value && typeof value === "object" && !Array.isArray(value)
    ? { width: scalar(value.width), height: scalar(value.height) } : scalar(value));
  const known = (asked) => {
    if (!asked || typeof asked !== "object") return {};
    const present = KEYS.filter((key) => asked[key] !== undefined && asked[key] !== null);
    return Object.fromEntries(present.map((key) => [key, Array.isArray(asked[key])
      ? asked[key].slice(0, MAX_ITEMS).map(item) : scalar(asked[key])]));
  };
  const read = (id, story) => ({
    story_id: id,
    storyshelf: known(story.parameters?.storyshelf),
    chromatic: known(story.parameters?.chromatic),
  });

  const ready = async () => {
    while (!window.__STORYBOOK_PREVIEW__) await readiness.nextFrame();
    const preview = window.__STORYBOOK_PREVIEW__;
    if (preview.ready) {
      await preview.ready();
      return preview;
    }
    while (!storeOf(preview)?.storyIndex) await readiness.nextFrame(); // before 8
    return preview;
  };
  // 8 keeps the store behind a proxy that warns; the value beside it is the store itself.
  const storeOf = (preview) => preview.storyStoreValue ?? preview.storyStore;
  // One file of stories that does not load makes extract() fail as a whole.
  const oneByOne = async (store) => {
    const stories = [];
    const failed = new Map();
    for (const entry of Object.values(store.storyIndex.entries)) {
      if (entry.type !== "story" || failed.has(entry.importPath)) continue;
      try {
        stories.push(read(entry.id, await store.loadStory({ storyId: entry.id })));
      } catch (error) {
        failed.set(entry.importPath, `${entry.importPath}: ${error?.message ?? error}`.slice(0, 500));
      }
    }
    return { stories, failed: Array.from(failed.values()).slice(0, MAX_FAILED) };
  };

  return {
    async all() {
      const preview = await ready();
      try {
        const extracted = await preview.extract();
        return { stories: Object.entries(extracted).map(([id, story]) => read(id, story)), failed: [] };
      } catch {
        return oneByOne(storeOf(preview));
      }
    },
  };
})();
