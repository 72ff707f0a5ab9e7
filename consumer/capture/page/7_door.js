// The one name the capturer asks by; what a story left behind in the origin is gone before it starts.
if (window === window.top) {
  window.name = "";
  try { localStorage.clear(); sessionStorage.clear(); } catch { /* about:blank has none */ }
}
Object.defineProperty(window, "__storyshelf__", {
  value: Object.freeze({ story, readiness, framing, parameters, accessibility, beforehand }),
});
