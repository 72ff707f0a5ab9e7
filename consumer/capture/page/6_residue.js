// What stories leave behind in a page, besides what they drew: what is there once a story is about to
// render and the one before is gone, and was not there before the first. Each thing is said as a short
// text that is the same whenever it is seen. It judges nothing: whether it matters, a picture shows.
const residue = (() => {
  const MAX_LEFT = 30;
  const MAX_NAME = 100;
  const STORYBOOKS_OWN = /^(sb-|storybook-|docs-root$|root$)/;

  const intervals = new Set();
  const start = window.setInterval.bind(window);
  window.setInterval = function setInterval(...args) {
    const id = start(...args);
    intervals.add(id);
    return id;
  };
  for (const name of ["clearInterval", "clearTimeout"]) { // one list in the browser: either clears both
    const clear = window[name].bind(window);
    window[name] = { [name](id) { intervals.delete(id); clear(id); } }[name];
  }
  // Those that watch what outlives a story.
  const watchers = new Set();
  const { observe, disconnect } = MutationObserver.prototype;
  MutationObserver.prototype.observe = function watching(target, options) {
    observe.call(this, target, options);
    if ([document, document.documentElement, document.body, document.head].includes(target)) watchers.add(this);
  };
  MutationObserver.prototype.disconnect = function resting() {
    disconnect.call(this);
    watchers.delete(this);
  };

  const short = (text) => String(text).replace(/\s+/g, " ").slice(0, MAX_NAME);
  const named = (element) => {
    const name = element.tagName.toLowerCase();
    const id = element.id ? `#${element.id}` : "";
    const classes = Array.from(element.classList).map((each) => `.${each}`).join("");
    const source = element.getAttribute("href") ?? element.getAttribute("src");
    return short(`${name}${id}${classes}${source ? `[${source}]` : ""}`);
  };
  const attributesOf = (element, name) => Array.from(element?.attributes ?? []).flatMap((one) => (
    one.name === "class"
      ? Array.from(element.classList).filter((each) => !STORYBOOKS_OWN.test(each))
        .map((each) => short(`class "${each}" of ${name}`))
      : [short(`attribute ${one.name}="${one.value}" of ${name}`)]));
  const childrenOf = (element, name) => Array.from(element?.children ?? [])
    .filter((child) => !STORYBOOKS_OWN.test(child.id) && !/^sb-/.test(child.className))
    .map((child) => `${named(child)} in ${name}`);
  const counted = (what, count) => (count ? [`${count} ${what}`] : []);
  const globals = () => Object.getOwnPropertyNames(window).filter((name) => !/^\d+$/.test(name));

  const seen = () => new Set([
    ...attributesOf(document.documentElement, "html"),
    ...attributesOf(document.body, "body"),
    ...childrenOf(document.body, "body"),
    ...childrenOf(document.head, "head"),
    ...counted("adopted style sheets", document.adoptedStyleSheets.length),
    ...counted("running intervals", intervals.size),
    ...counted("observers of the document", watchers.size),
    `path ${short(location.pathname)}`,
  ]);
  let before = null;
  let left = [];
  const look = () => {
    const things = seen();
    const names = globals();
    if (!before) {
      before = { things, names: new Set(names) };
      left = [];
      return;
    }
    left = [
      ...Array.from(things).filter((thing) => !before.things.has(thing)),
      ...Array.from(before.things).filter((thing) => !things.has(thing)).map((thing) => `no more: ${thing}`),
      ...names.filter((name) => !before.names.has(name)).map((name) => `global ${short(name)}`),
    ].slice(0, MAX_LEFT);
  };
  return {
    look() {
      try { look(); } catch { left = ["something that cannot be looked at"]; }
    },
    left: () => left,
  };
})();
