// What the address asks of this document, or that of the page which it is part of: what has to be
// known before any script of the page runs.
const wished = (() => {
  let query = location.search;
  try { query = window.top.location.search; } catch { /* a page of elsewhere is around it */ }
  const asked = new URLSearchParams(query);
  return {
    time: asked.get("storyshelf-time"), // "real", or an instant in milliseconds
    isAtStart: asked.get("storyshelf-animations") === "start",
  };
})();
