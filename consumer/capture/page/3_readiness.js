// Brings the page to rest: late resources in, animations over, nothing scheduled for the next frame.
const ANIMATIONS = wished.isAtStart ? "animation-play-state: paused !important;" : `
  animation-duration: 1ms !important;
  animation-iteration-count: 1 !important;`;
// Marks by which an author leaves elements out of every picture, ours and those of other tools.
const LEFT_OUT = `
[data-storyshelf="remove"], [data-visual-test="removed"] { display: none !important; }
[data-storyshelf="transparent"], [data-visual-test="transparent"], [data-happo-hide] { opacity: 0 !important; }
[data-storyshelf="mask"], [data-visual-test="blackout"] {
  background: black !important;
  filter: brightness(0) !important;
}`;
const FREEZE = `*, *::before, *::after, *::backdrop {
  animation-delay: 0s !important;
  ${ANIMATIONS}
  transition-delay: 0s !important;
  transition-duration: 1ms !important;
  caret-color: transparent !important;
  scroll-behavior: auto !important;
}${LEFT_OUT}`;

const AHEAD_MS = 50; // at most of each wait, out of 100

const readiness = (() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(FREEZE);
  const shadows = [];
  let changedMs = -Infinity;
  let restedMs = -Infinity; // when all had come to rest; what has changed since has to do so again
  const observer = new MutationObserver(() => { changedMs = real.now(); });
  const watch = (root) => observer.observe(root, {
    subtree: true, childList: true, characterData: true, attributes: true,
  });
  // An element keeps the layer that its animation had until its style is worked out anew: drawn on a
  // layer of its own, the edges of round shapes are other pixels. The rule changes none.
  const layers = new CSSStyleSheet();
  layers.replaceSync("*, *::before, *::after, *::backdrop { -webkit-tap-highlight-color: transparent; }");
  const dropLayers = () => {
    for (const root of roots()) {
      root.adoptedStyleSheets = root.adoptedStyleSheets.includes(layers)
        ? root.adoptedStyleSheets.filter((each) => each !== layers) : [...root.adoptedStyleSheets, layers];
    }
  };
  const roots = () => [document, ...shadows.map((each) => each.deref()).filter(Boolean)];
  const everywhere = (selector) => roots().flatMap((root) => Array.from(root.querySelectorAll(selector)));
  const freeze = (root) => {
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  };
  freeze(document);
  watch(document);
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(options) {
    const root = attach.call(this, options);
    shadows.push(new WeakRef(root));
    freeze(root);
    watch(root);
    return root;
  };

  const capped = async (promise, withinMs) => {
    const late = new Promise((resolve) => { real.setTimeout(() => resolve("late"), withinMs); });
    return (await Promise.race([Promise.resolve(promise).then(() => "done", () => "done"), late])) === "done";
  };
  const nextFrame = () => new Promise((resolve) => { real.frame(() => resolve()); });
  const attempt = (act) => { try { act(); } catch { /* one that cannot be stopped shows as unstable */ } };

  const endAnimation = (animation) => {
    if (animation.timeline !== document.timeline) return; // driven by scrolling: at rest by itself
    if (wished.isAtStart && !(animation instanceof CSSTransition)) {
      attempt(() => {
        animation.pause();
        animation.currentTime = Math.max(0, animation.effect?.getTiming().delay ?? 0);
      });
      return;
    }
    const isEndless = animation.effect?.getComputedTiming().endTime === Infinity;
    attempt(() => (isEndless ? animation.cancel() : animation.finish()));
  };
  const endAnimations = () => {
    for (const root of roots()) { freeze(root); root.getAnimations().forEach(endAnimation); }
    for (const svg of everywhere("svg")) attempt(() => { svg.pauseAnimations(); svg.setCurrentTime(0); });
  };
  const rewind = (video) => new Promise((resolve) => {
    attempt(() => video.pause());
    if (video.readyState === 0 || video.currentTime === 0) { resolve(); return; }
    video.addEventListener("seeked", resolve, { once: true });
    attempt(() => { video.currentTime = 0; });
  });
  const decoded = () => {
    const images = everywhere("img");
    for (const image of images) image.loading = "eager";
    return Promise.all(images.filter((image) => image.currentSrc || image.src)
      .map((image) => image.decode().catch(() => {})));
  };
  // A story that has not moved since it was rendered is not waited for. Frames are counted besides
  // time: on a busy machine one frame can take longer than the quiet that is asked for.
  const QUIET_FRAMES = 3;
  const quiet = async (sinceMs, quietMs, withinMs) => {
    const untilMs = real.now() + withinMs;
    await nextFrame();
    for (let frames = 0, seenMs = changedMs;
      changedMs > sinceMs && (frames < QUIET_FRAMES || real.now() - changedMs < quietMs);) {
      if (real.now() > untilMs) return false;
      await nextFrame();
      frames = changedMs === seenMs ? frames + 1 : 0;
      seenMs = changedMs;
    }
    return true;
  };

  // Another size is another layout, and may ask for other files; a file that has come is to be drawn.
  const stir = () => { restedMs = -Infinity; };
  window.addEventListener("resize", stir, { capture: true });
  new PerformanceObserver(stir).observe({ type: "resource" });
  const isAtRest = () => {
    if (observer.takeRecords().length) changedMs = real.now(); // else told at the end of this turn
    return restedMs > changedMs && document.fonts.status === "loaded" && !frames.areAsked();
  };

  const own = {
    nextFrame,
    everywhere,
    // Uses time in which nothing else could be done: what is at rest by then is not waited for again.
    ahead: () => own.settle({
      fontsMs: AHEAD_MS, imagesMs: AHEAD_MS, quietMs: AHEAD_MS, restMs: AHEAD_MS,
    }),
    // Returns the codes of what did not come to rest in time.
    async settle({ fontsMs, imagesMs, quietMs, restMs }) {
      const sinceMs = real.now();
      window.scrollTo(0, 0);
      if (isAtRest()) {
        endAnimations();
        return [];
      }
      const late = [];
      await nextFrame(); // styles and images of the last change ask for their files here
      if (!(await capped(document.fonts.ready, fontsMs))) late.push("font_timeout");
      if (!(await capped(decoded(), imagesMs))) late.push("image_timeout");
      await capped(Promise.all(everywhere("video").map(rewind)), imagesMs);
      const isDrained = await frames.drain(restMs);
      endAnimations();
      if (!(await quiet(sinceMs, quietMs, restMs)) || !isDrained) late.push("unsettled");
      if (!late.length) restedMs = real.now();
      return late;
    },
    // From here on no script draws; two frames put on the screen what is there.
    async stop() {
      frames.hold();
      endAnimations();
      dropLayers();
      await nextFrame();
      await nextFrame();
    },
    // Scripts may draw again, for another story; what the last one's rest was worth is over.
    resume() {
      stir();
      frames.resume();
    },
  };
  return own;
})();
