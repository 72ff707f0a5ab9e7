// Measures the content's box: what a person would call the story, wherever in the body it is drawn.
const framing = (() => {
  const MAX_ELEMENTS = 50_000; // measured at about 2 µs each; a page beyond that is shown as far as seen
  const DOCS = /^(storybook-docs|docs-root)$/;
  const isStorybooksOwn = ({ className, id }) => /^sb-/.test(className) || /^sb-/.test(id)
    || (DOCS.test(id) && !story.showsDocs());
  const NEVER_DRAWN = new Set(["SCRIPT", "STYLE", "LINK", "TEMPLATE", "NOSCRIPT", "META", "TITLE", "HEAD", "BASE"]);
  const DRAWN_BY_ITSELF = new Set([
    "IMG", "SVG", "CANVAS", "VIDEO", "AUDIO", "IFRAME", "OBJECT", "EMBED", "INPUT", "TEXTAREA", "SELECT",
    "BUTTON", "HR", "PROGRESS", "METER", "FIELDSET",
  ]);
  const EVERYWHERE = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };

  const shared = (a, b) => ({
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  });
  const nameOf = (element) => element.tagName.toUpperCase();
  const isClear = (colour) => colour === "transparent" || /[,/]\s*0\)$/.test(colour);
  const hasText = (element) => Array.from(element.childNodes)
    .some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const hasBorder = (style) => ["Top", "Right", "Bottom", "Left"]
    .some((side) => parseFloat(style[`border${side}Width`]) > 0 && !isClear(style[`border${side}Color`]));
  const draws = (element, style) => DRAWN_BY_ITSELF.has(nameOf(element)) || !isClear(style.backgroundColor)
    || style.backgroundImage !== "none" || style.boxShadow !== "none" || hasBorder(style)
    || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
  const cuts = (style) => style.overflowX !== "visible" || style.overflowY !== "visible"
    || style.contain.includes("paint") || style.contain === "strict" || style.contain === "content";

  const measure = () => {
    const union = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    let seen = 0;
    const add = (box, clip) => {
      const { left, top, right, bottom } = shared(box, clip);
      // 1 px squares hold text for screen readers.
      if (right <= left || bottom <= top || (right - left <= 1 && bottom - top <= 1)) return;
      if (right <= 0 || bottom <= 0) return; // parked outside the page
      union.left = Math.min(union.left, left);
      union.top = Math.min(union.top, top);
      union.right = Math.max(union.right, right);
      union.bottom = Math.max(union.bottom, bottom);
    };
    const addText = (element, clip) => {
      if (!hasText(element)) return;
      const range = document.createRange();
      range.selectNodeContents(element);
      for (const box of range.getClientRects()) add(box, clip);
    };
    // `clips.flow` cuts what flows, `clips.positioned` what is positioned absolutely.
    const walk = (element, clips, isOuter) => {
      if (NEVER_DRAWN.has(nameOf(element)) || ++seen > MAX_ELEMENTS) return;
      const style = getComputedStyle(element);
      if (style.display === "none" || style.opacity === "0") return;
      const box = element.getBoundingClientRect();
      const clip = style.position === "fixed" ? EVERYWHERE
        : style.position === "absolute" ? clips.positioned : clips.flow;
      if (style.visibility === "visible") {
        if (isOuter || draws(element, style)) add(box, clip);
        addText(element, clip);
      }
      if (nameOf(element) === "SVG") return;
      if (nameOf(element) === "DIALOG" && element.matches(":modal")) add(viewport(), EVERYWHERE);
      const flow = cuts(style) && style.display !== "contents" ? shared(clip, box) : clip;
      const holdsPositioned = style.position !== "static" || style.transform !== "none";
      const inner = { flow, positioned: holdsPositioned ? flow : clips.positioned };
      for (const child of (element.shadowRoot ?? element).children) walk(child, inner, false);
      if (element.shadowRoot) for (const child of element.children) walk(child, inner, false);
    };
    const root = document.querySelector("#storybook-root, #root");
    const open = { flow: EVERYWHERE, positioned: EVERYWHERE };
    for (const element of document.body?.children ?? []) {
      if (element === root || isStorybooksOwn(element)) continue;
      walk(element, open, false);
    }
    if (root) {
      addText(root, EVERYWHERE);
      for (const child of root.children) walk(child, open, true);
    }
    return union;
  };
  // What its author, or the author of another tool's marks, does not want compared.
  const MARKED = ['[data-storyshelf="ignore"]', ".chromatic-ignore", '[data-chromatic="ignore"]'];
  const MAX_BOXES = 501; // one more than are followed: so it is seen that there are too many
  const boxOf = (element) => {
    const own = element.getBoundingClientRect();
    if (own.width || own.height) return own;
    const range = document.createRange(); // of `display: contents`
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  };
  const find = (selectors) => {
    const elements = new Set();
    const unread = [];
    for (const selector of [...MARKED, ...selectors]) {
      try { readiness.everywhere(selector).forEach((each) => elements.add(each)); } catch { unread.push(selector); }
    }
    const boxes = Array.from(elements).slice(0, MAX_BOXES).map(boxOf).filter((box) => box.width > 0 && box.height > 0);
    return { unread, boxes };
  };
  const inPage = ({ left, top, right, bottom }) => [
    left + scrollX, top + scrollY, right + scrollX, bottom + scrollY,
  ];
  const viewport = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  const COVER = "sb-show-errordisplay"; // Storybook's words lie on the whole window, and no story is seen
  const isCovered = () => document.body?.classList.contains(COVER);

  return {
    // In CSS pixels from the page's upper left; `box` is null where nothing is drawn.
    box(ignored) {
      const union = isCovered() ? viewport() : measure();
      const isEmpty = union.right <= union.left;
      const { unread, boxes } = find(ignored);
      return {
        box: isEmpty ? null : inPage(union),
        ignored: boxes.map(inPage),
        unread,
        viewport: [innerWidth, innerHeight],
        page: [document.documentElement.scrollWidth, document.documentElement.scrollHeight],
      };
    },
    uncover() { if (isCovered()) document.body.classList.replace(COVER, "sb-show-main"); },
    // Resolves when the page has laid itself out in a viewport of that height.
    async laidOut(heightPx) {
      while (innerHeight !== heightPx) await readiness.nextFrame();
      await readiness.nextFrame();
      await readiness.nextFrame();
    },
  };
})();
