// Keeps the part `#live` of a page fresh. htmx fetches, idiomorph morphs what came into what is there;
// this says when, and what of the reader's own must stay. Without script the page reloads itself.

const HIDDEN_S = 60; // a tab that nobody looks at asks rarely
const AWAY_S = [2, 5, 10, 20, 30]; // between tries while the server does not answer
const CLIENT_ERROR = 400;
const CONFLICT = 409;
const SERVER_ERROR = 500;
const AWAY = "The server does not answer. This page tries again by itself; what it shows may be old.";
const NOT_SENT = "The server was not reached, and nothing was decided. Try once more.";

const live = () => document.getElementById("live");
const notice = document.getElementById("notice");
let turn = 0;
let failures = 0;

function pause() {
  if (failures) return AWAY_S[Math.min(failures, AWAY_S.length) - 1];
  return document.hidden ? HIDDEN_S : Number(live().dataset.refreshS);
}

function later() {
  clearTimeout(turn);
  turn = setTimeout(now, pause() * 1000);
}

function now() {
  clearTimeout(turn);
  htmx.trigger(live(), "refresh");
}

function say(text) {
  const said = document.createElement("p");
  said.className = "notice notice-wait";
  said.id = "away";
  said.textContent = text;
  notice.replaceChildren(said);
}

// What failed is tried again by the next poll; what was decided is not sent twice by itself.
function answered(event) {
  const { status } = event.detail.xhr;
  if (status === 0) return later(); // told apart by `unanswered`, or ended by a form
  const isPoll = event.detail.requestConfig.verb === "get";
  if (isPoll && status >= SERVER_ERROR) return unanswered(event);
  failures = 0;
  if (isPoll) document.getElementById("away")?.remove();
  else if (status < CLIENT_ERROR) notice.replaceChildren();
  if (status === CONFLICT) now(); // the page shows what is there before it is decided again
  else later();
}

function unanswered(event) {
  failures += 1;
  say(event.detail.requestConfig.verb === "get" ? AWAY : NOT_SENT);
  later();
}

// What the reader opened, chose and types is his own; the server knows nothing of it.
function keepOwn(name, node, change) {
  if (name === "open" && node.localName === "details") return false;
  if (name === "checked" && change === "update") return false;
  if (name === "value" && node.type === "search" && node === document.activeElement) return false;
  return true;
}

// An answer without that part (signed out, say) is opened as a page instead of put into one.
function openOtherPages(event) {
  const { xhr, target } = event.detail;
  if (target !== live() || xhr.getResponseHeader("HX-Retarget")) return;
  if (xhr.status >= SERVER_ERROR) event.detail.shouldSwap = false;
  else if (!xhr.responseText.includes('id="live"')) {
    event.detail.shouldSwap = false;
    location.reload();
  }
}

function leaveOutEmpty(event) {
  if (event.detail.verb !== "get") return;
  for (const [name, value] of [...event.detail.formData]) {
    if (value === "") event.detail.formData.delete(name);
  }
}

function countChosen() {
  const place = document.getElementById("chosen-count");
  const chosen = document.querySelectorAll(".card-choose :checked").length;
  const words = chosen ? `${chosen} chosen` : "";
  if (place && place.textContent !== words) place.textContent = words; // else it is read out again
}

function closeQuestions(event) {
  for (const question of document.querySelectorAll("details.confirm[open]")) {
    if (event.type === "keydown" ? event.key === "Escape" : !question.contains(event.target)) {
      question.open = false;
      if (event.type === "keydown") question.querySelector("summary").focus();
    }
  }
}

Idiomorph.defaults.callbacks.beforeAttributeUpdated = keepOwn;
Idiomorph.defaults.callbacks.beforeNodeMorphed = (old) => old.id !== "chosen-count";
document.addEventListener("htmx:configRequest", leaveOutEmpty);
document.addEventListener("htmx:beforeSwap", openOtherPages);
document.addEventListener("htmx:afterRequest", answered);
document.addEventListener("htmx:sendError", unanswered);
document.addEventListener("htmx:afterSettle", countChosen);
document.addEventListener("change", countChosen);
document.addEventListener("click", closeQuestions);
document.addEventListener("keydown", closeQuestions);
document.addEventListener("visibilitychange", () => (document.hidden ? later() : now()));
addEventListener("online", now);
addEventListener("popstate", () => location.reload());
countChosen();
later();
