// What a story wants done before it is shot, once it has come to its own end.
const beforehand = (() => {
  const MAX_SCREENS = 100; // a list without an end grows as fast as it is scrolled
  return {
    // Resolves to `there` once an element that the selector names is visible, else to why it is not.
    async appeared(selector, withinMs) {
      const untilMs = real.now() + withinMs;
      for (;;) {
        try {
          if (readiness.everywhere(selector).some((each) => each.checkVisibility())) return "there";
        } catch { return "unread"; }
        if (real.now() > untilMs) return "late";
        await readiness.nextFrame();
      }
    },
    // Shows every part of the page once, and ends where it began.
    async scrolledThrough(withinMs) {
      const untilMs = real.now() + withinMs;
      for (let screen = 1; screen < MAX_SCREENS && real.now() < untilMs; screen++) {
        if (screen * innerHeight >= document.documentElement.scrollHeight) break;
        window.scrollTo(0, screen * innerHeight);
        await readiness.nextFrame(); // what watches for being seen is told in the frame after
        await readiness.nextFrame();
      }
      window.scrollTo(0, 0);
      await readiness.nextFrame();
    },
  };
})();
