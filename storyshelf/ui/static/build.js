// `j` on a build's page opens the first of its snapshots that waits for a decision, else the first
// of all, from where the keys of the snapshots' pages go on. Who turned the keys off there has none.

const isOff = () => {
  try {
    return JSON.parse(localStorage.getItem("storyshelf.keys")) === "off";
  } catch {
    return false;
  }
};

document.addEventListener("keydown", (event) => {
  if (event.key !== "j" || event.repeat || event.isComposing || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.altKey || isOff()) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
  const cards = [...document.querySelectorAll(".card")];
  const waiting = cards.find((card) => card.querySelector('[name="decision"][value="accepted"]'));
  (waiting ?? cards[0])?.querySelector(".card-look").click();
});
