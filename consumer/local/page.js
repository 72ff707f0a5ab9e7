// Filters and searches what is there already; without it the page shows everything.
const form = document.querySelector(".bar form");
const search = form.querySelector("input[type=search]");
const said = document.getElementById("shown");
const stories = [...document.querySelectorAll("article")];
const texts = new Map(stories.map((each) => [each, each.textContent.toLowerCase()]));
form.hidden = false;

const show = () => {
  const state = form.elements.state.value;
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const each of stories) {
    const isMeant = state === "all" || each.classList.contains(state);
    each.hidden = !(isMeant && words.every((word) => texts.get(each).includes(word)));
    count += each.hidden ? 0 : 1;
  }
  said.textContent = `${count} of ${stories.length} shown`;
};

const step = (by) => {
  const shown = stories.filter((each) => !each.hidden);
  const at = shown.indexOf(document.activeElement.closest("article"));
  const next = shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "start" });
};

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target === search) {
    search.value = "";
    show();
    search.blur();
  }
  if (event.target === search) return;
  if (event.key === "/") { event.preventDefault(); search.focus(); }
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
show();
