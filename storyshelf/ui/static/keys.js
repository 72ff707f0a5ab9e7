// j and k go to the next and the previous snapshot, as the links of the page do.

const LINKS = { j: 'a[rel="next"]', k: 'a[rel="prev"]' };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
  const link = LINKS[event.key] && document.querySelector(LINKS[event.key]);
  if (link) link.click();
});
