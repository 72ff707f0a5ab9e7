// Keeps the moving part of a build's page fresh, in place: what did not change is not touched, so
// scroll, focus and what was opened stay as they are. Without script the page reloads by itself.

const HIDDEN_POLL_S = 30; // a tab that nobody looks at asks rarely
const RETRY_S = 5; // the server may be restarting

const live = document.getElementById("live");
const sent = new Map(); // what the server last sent of each part, by id

function keepOpened(old, fresh) {
  const before = [old, ...old.querySelectorAll("details")].filter((each) => each.matches("details"));
  const after = [fresh, ...fresh.querySelectorAll("details")].filter((each) => each.matches("details"));
  after.forEach((each, place) => {
    if (place < before.length) each.open = before[place].open;
  });
}

function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  keepOpened(old, fresh);
  old.replaceWith(fresh);
  const link = focused?.getAttribute("href");
  const again = link
    ? fresh.querySelector(`a[href="${CSS.escape(link)}"]`)
    : focused && fresh.querySelector("summary");
  again?.focus({ preventScroll: true });
}

function update(fresh) {
  const ids = new Set([...fresh.children].map((child) => child.id));
  for (const child of [...live.children]) if (!ids.has(child.id)) child.remove();
  let last = null;
  for (const child of [...fresh.children]) {
    const old = document.getElementById(child.id);
    const html = child.outerHTML;
    if (!old) {
      last ? last.after(child) : live.prepend(child);
    } else if (sent.get(child.id) !== html) {
      replace(old, child);
    }
    sent.set(child.id, html);
    last = document.getElementById(child.id);
  }
  live.dataset.refreshS = fresh.dataset.refreshS ?? "";
  document.title = fresh.dataset.title;
}

async function refresh() {
  const answer = await fetch(live.dataset.link);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  update(page.getElementById("live"));
}

function later(seconds) {
  const turn = setTimeout(now, seconds * 1000);
  async function now() {
    clearTimeout(turn);
    document.removeEventListener("visibilitychange", seen);
    try {
      await refresh();
      if (live.dataset.refreshS) later(pause());
    } catch {
      later(RETRY_S);
    }
  }
  function seen() {
    if (!document.hidden) now();
  }
  document.addEventListener("visibilitychange", seen);
}

function pause() {
  return document.hidden ? HIDDEN_POLL_S : Number(live.dataset.refreshS);
}

if (live?.dataset.refreshS) {
  for (const child of live.children) sent.set(child.id, child.outerHTML);
  later(pause());
}
