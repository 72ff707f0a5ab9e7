// Reads what stories ask for. Only known keys leave the page: parameters hold functions, cycles, DOM
// nodes, and megabytes of somebody's data.
const parameters = (() => {
  const KNOWN = KNOWN_KEYS; // of storyshelf.bundle.known_keys: name, shape, sources
  const MAX_TEXT = 200;
  const MAX_ITEMS = 50;
  const MAX_FIELDS = 30;
  const MAX_DEPTH = 4; // a mode's args.style.color
  const MAX_FAILED = 40;
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  const scalar = (value) => {
    if (typeof value === "string") return value.slice(0, MAX_TEXT);
    if (typeof value === "boolean" || Number.isFinite(value) || value === null) return value;
    return `[${typeof value}]`; // says what stood there, so that its author can be told
  };
  const plain = (value, depth) => {
    if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(scalar);
    if (!isObject(value) || depth === 0) return scalar(value);
    const fields = Object.entries(value).slice(0, MAX_FIELDS);
    return Object.fromEntries(fields.map(([name, each]) => [name, plain(each, depth - 1)]));
  };

  // Storybook's named viewports: 9 and later call them options, older ones viewports.
  const sized = (wish, story) => {
    const rotated = isObject(wish) && wish.isRotated === true;
    const name = isObject(wish) && "value" in wish ? wish.value : wish;
    if (name === undefined || name === null) return undefined;
    if (isObject(name)) return { width: scalar(name.width), height: scalar(name.height) };
    const asked = story.parameters?.viewport;
    const known = typeof name === "string" ? (asked?.options ?? asked?.viewports)?.[name]?.styles : undefined;
    if (!isObject(known)) return scalar(name);
    const { width, height } = known;
    return rotated ? { width: scalar(height), height: scalar(width) } : { width: scalar(width), height: scalar(height) };
  };
  const mode = (asked, story) => {
    if (!isObject(asked)) return scalar(asked);
    const fields = plain(asked, MAX_DEPTH - 1);
    if (asked.viewport !== undefined) fields.viewport = sized(asked.viewport, story);
    return fields;
  };
  // Storybook's own `a11y`, as far as it is plain: elements and functions stay where they are.
  const several = (value) => (value === undefined || value === null ? []
    : (Array.isArray(value) ? value : [value]).slice(0, MAX_ITEMS).map(scalar));
  const accessibility = (asked) => {
    if (!isObject(asked)) return scalar(asked);
    const { config, options, context } = asked;
    const isSplit = isObject(context) && ("include" in context || "exclude" in context);
    const only = options?.runOnly;
    const found = {
      test: asked.test === "todo" ? undefined : asked.test, // what the addon says of every story
      disable: asked.disable,
      rules: Array.isArray(config?.rules) ? config.rules.slice(0, MAX_ITEMS).map((each) => plain(each, 1)) : undefined,
      switched: isObject(options?.rules) ? Object.fromEntries(Object.entries(options.rules).slice(0, MAX_FIELDS)
        .map(([id, each]) => [id, scalar(each?.enabled)])) : undefined,
      runOnly: isObject(only) ? { type: scalar(only.type), values: several(only.values) } : several(only),
      include: several(isSplit ? context.include : context),
      exclude: several(isSplit ? context.exclude : undefined),
    };
    const said = Object.entries(found).filter(([, each]) => each !== undefined && each?.length !== 0);
    return said.length ? Object.fromEntries(said.map(([name, each]) => [
      name, typeof each === "object" ? each : scalar(each)])) : undefined;
  };
  const READERS = {
    accessibility: (value) => accessibility(value),
    viewport: (value, story) => sized(value, story),
    viewports: (value, story) => (Array.isArray(value)
      ? value.slice(0, MAX_ITEMS).map((each) => sized(each, story)) : scalar(value)),
    // Lost Pixel writes [{ selector }], Creevey a single one as text.
    ignoreSelectors: (value) => (Array.isArray(value)
      ? value.slice(0, MAX_ITEMS).map((each) => scalar(isObject(each) && "selector" in each ? each.selector : each))
      : scalar(value)),
    modes: (value, story) => (isObject(value)
      ? Object.fromEntries(Object.entries(value).slice(0, MAX_FIELDS).map(([name, each]) => [name, mode(each, story)]))
      : scalar(value)),
  };
  const readValue = (key, value, story) => (READERS[key.name] ?? ((each) => (
    Array.isArray(each) ? each.slice(0, MAX_ITEMS).map(scalar) : scalar(each))))(value, story);

  const isOf = (shape, value) => (shape === "boolean" || shape === "number" ? typeof value === shape
    : shape === "array" ? Array.isArray(value) : true);
  const at = (story, path) => {
    const isGlobal = path.startsWith("globals.");
    const root = isGlobal ? { globals: { ...story.globals, ...story.storyGlobals } } : story.parameters;
    return path.split(".").reduce((inside, step) => (isObject(inside) ? inside[step] : undefined), root);
  };
  const sourced = (story, key, source) => {
    if (source.startsWith("!")) return at(story, source.slice(1)) === false ? true : undefined;
    const value = at(story, source);
    if (value === undefined || value === null) return undefined;
    // What is wrong under Chromatic's name is told; what another tool means by it is its own affair.
    return source.startsWith("chromatic.") || isOf(key.shape, value) ? value : undefined;
  };
  const ofOthers = (story, key) => {
    for (const source of key.sources) {
      const value = sourced(story, key, source);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const known = (story, valueOf) => {
    const found = {};
    for (const key of KNOWN) {
      const value = valueOf(key);
      if (value === undefined || value === null) continue;
      const read = readValue(key, value, story);
      if (read !== undefined) found[key.name] = read;
    }
    return found;
  };
  const read = (id, story) => {
    const ours = story.parameters?.storyshelf;
    return {
      story_id: id,
      storyshelf: known(story, (key) => (isObject(ours) ? ours[key.name] : undefined)),
      chromatic: known(story, (key) => ofOthers(story, key)),
    };
  };

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
