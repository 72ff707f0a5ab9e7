// The review of one snapshot: views, zoom, regions, keys. Without it the pictures stand side by
// side and everything can be decided; nothing here is needed for that.

const VIEWS = ["side", "swipe", "overlay", "blink", "one"];
const ZOOM_STEPS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 16];
const ROUND = ["fit", 1, 2]; // what one key goes through
const LEAST_FIT = 0.5; // a tall picture is scrolled rather than made unreadable
const PIXELS_ABOVE = 2; // from here on a pixel is a square, not a blur
const BLINK_MS = 700; // less than three a second, as 2.3.1 of WCAG asks
const REGION_MARGIN_PX = 48;
const DIVIDER_STEP = 2;
const FLASH_MS = 60_000;
const FRESH_MS = 15_000;

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const between = (low, value, high) => Math.min(Math.max(value, low), high);

// What a browser remembers; one that remembers nothing works all the same.
const memory = {
  read(store, name) {
    try {
      return JSON.parse(store().getItem(`storyshelf.${name}`));
    } catch {
      return null;
    }
  },
  write(store, name, value) {
    try {
      store().setItem(`storyshelf.${name}`, JSON.stringify(value));
    } catch {
      // private windows refuse
    }
  },
};
const kept = () => localStorage;
const forNow = () => sessionStorage;

// View and zoom stand in the address, so that a link shows what its sender saw, and go along with
// every link and form of the page.
class Address {
  constructor() {
    const said = new URLSearchParams(location.hash.slice(1));
    const known = memory.read(kept, "review") ?? {};
    this.view = VIEWS.find((view) => view === (said.get("view") ?? known.view)) ?? "side";
    const zoom = said.get("zoom") ?? known.zoom;
    this.zoom = ZOOM_STEPS.includes(Number(zoom)) ? Number(zoom) : "fit";
  }

  keep(view, zoom) {
    Object.assign(this, { view, zoom });
    memory.write(kept, "review", { view, zoom });
    history.replaceState(history.state, "", `#${this.hash}`);
    this.goAlong();
  }

  get hash() {
    return new URLSearchParams({ view: this.view, zoom: this.zoom }).toString();
  }

  goAlong() {
    for (const each of all("[data-keeps-view]")) {
      const name = each.tagName === "FORM" ? "action" : "href";
      each.setAttribute(name, `${each.getAttribute(name).split("#")[0]}#${this.hash}`);
    }
  }
}

// One picture's window: what is seen of it, moved by scrolling, so that touch, wheel and arrow keys
// work as they do everywhere.
class Pane {
  constructor(root, onScroll) {
    this.root = root;
    this.stage = one(".stage", root);
    root.addEventListener("scroll", () => onScroll(this), { passive: true });
    root.addEventListener("pointerdown", (event) => this.drag(event));
    root.addEventListener("dragstart", (event) => event.preventDefault());
  }

  drag(start) {
    if (start.pointerType !== "mouse" || start.button !== 0) return;
    const from = { left: this.root.scrollLeft, top: this.root.scrollTop };
    const move = (event) => {
      this.root.scrollLeft = from.left - (event.clientX - start.clientX);
      this.root.scrollTop = from.top - (event.clientY - start.clientY);
    };
    const end = () => {
      this.root.removeEventListener("pointermove", move);
      this.root.classList.remove("is-dragged");
    };
    this.root.setPointerCapture(start.pointerId);
    this.root.classList.add("is-dragged");
    this.root.addEventListener("pointermove", move);
    this.root.addEventListener("lostpointercapture", end, { once: true });
  }

  follow(other) {
    if (Math.abs(this.root.scrollLeft - other.scrollLeft) > 1) this.root.scrollLeft = other.scrollLeft;
    if (Math.abs(this.root.scrollTop - other.scrollTop) > 1) this.root.scrollTop = other.scrollTop;
  }

  // The picture's point that lies under a point of the window; without one, under its middle.
  pointAt(scale, at) {
    const seen = this.root.getBoundingClientRect();
    const place = at ?? { x: seen.left + seen.width / 2, y: seen.top + seen.height / 2 };
    const picture = this.stage.getBoundingClientRect();
    return { x: (place.x - picture.left) / scale, y: (place.y - picture.top) / scale, place };
  }

  bring(point, scale) {
    const picture = this.stage.getBoundingClientRect();
    this.root.scrollLeft += picture.left + point.x * scale - point.place.x;
    this.root.scrollTop += picture.top + point.y * scale - point.place.y;
  }

  centre(box, scale) {
    const seen = this.root.getBoundingClientRect();
    const place = { x: seen.left + this.root.clientWidth / 2, y: seen.top + this.root.clientHeight / 2 };
    this.bring({ x: box.x + box.width / 2, y: box.y + box.height / 2, place }, scale);
  }
}

// Both pictures at one scale and at one place.
class Viewer {
  constructor(root, address) {
    this.root = root;
    this.address = address;
    this.size = { width: Number(root.dataset.widthPx), height: Number(root.dataset.heightPx) };
    this.panes = all(".window", root).map((each) => new Pane(each, (pane) => this.onScroll(pane)));
    this.isPair = this.panes.length > 1;
    this.onLayout = [];
    this.onView = [];
    this.zoom = address.zoom;
    root.classList.add("is-live");
    root.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    new ResizeObserver(() => this.layOut()).observe(root);
  }

  get view() {
    return this.root.dataset.view;
  }

  // The pane whose window is measured: the only one, or the one that every view shows.
  get main() {
    return this.panes.at(-1);
  }

  get scale() {
    return this.zoom === "fit" ? this.fitting() : this.zoom;
  }

  fitting() {
    const { root } = this.main;
    const tallest = parseFloat(getComputedStyle(root).maxHeight) || this.size.height;
    const high = Math.max(tallest / this.size.height, LEAST_FIT);
    return Math.min(1, root.clientWidth / this.size.width, high) || 1;
  }

  show(view) {
    this.root.dataset.view = this.isPair ? view : "side";
    for (const button of all("[data-show]", this.root)) {
      button.setAttribute("aria-pressed", String(button.dataset.show === this.view));
    }
    for (const told of this.onView) told();
    this.layOut();
    this.address.keep(view, this.zoom);
  }

  zoomTo(zoom, at) {
    const pane = this.panes.find((each) => at && each.root.contains(at.target)) ?? this.main;
    const point = pane.pointAt(this.scale, at && { x: at.clientX, y: at.clientY });
    this.zoom = zoom;
    this.layOut();
    pane.bring(point, this.scale);
    this.address.keep(this.address.view, zoom);
  }

  zoomRound() {
    this.zoomTo(ROUND[(ROUND.indexOf(this.zoom) + 1) % ROUND.length]);
  }

  zoomBy(step, at) {
    const now = this.scale;
    const further = step > 0
      ? ZOOM_STEPS.find((each) => each > now * 1.01)
      : ZOOM_STEPS.findLast((each) => each < now * 0.99);
    if (further) this.zoomTo(further, at);
  }

  layOut() {
    const { scale } = this;
    for (const { stage } of this.panes) {
      stage.style.width = `${this.size.width * scale}px`;
      stage.style.height = `${this.size.height * scale}px`;
    }
    this.root.classList.toggle("shows-pixels", scale > PIXELS_ABOVE);
    const percent = `${Math.round(scale * 100)} %`;
    one("#zoom", this.root).textContent = this.zoom === "fit" ? `Fit ${percent}` : percent;
    for (const told of this.onLayout) told();
  }

  // Brings a region to the middle, as large as it is readable.
  look(box) {
    if (this.zoom === "fit" && this.scale < 1) {
      const { root } = this.main;
      const wide = root.clientWidth / (box.width + 2 * REGION_MARGIN_PX);
      const high = root.clientHeight / (box.height + 2 * REGION_MARGIN_PX);
      const wanted = between(this.scale, Math.min(wide, high), 1);
      this.zoom = ZOOM_STEPS.findLast((each) => each <= wanted && each > this.scale) ?? "fit";
      this.layOut();
    }
    this.main.centre(box, this.scale);
    this.address.keep(this.address.view, this.zoom);
  }

  onScroll(moved) {
    for (const pane of this.panes) if (pane !== moved) pane.follow(moved.root);
    for (const told of this.onLayout) told();
  }

  onWheel(event) {
    if (!event.ctrlKey || !event.target.closest(".window")) return;
    event.preventDefault(); // the page itself stays as large as it is
    this.zoomBy(event.deltaY < 0 ? 1 : -1, event);
  }

  focus() {
    if (document.activeElement === document.body) this.main.root.focus({ preventScroll: true });
  }
}

// The line between baseline and new: a slider over what is seen of the picture.
class Divider {
  constructor(viewer) {
    this.viewer = viewer;
    this.root = one(".divider", viewer.root);
    this.percent = 50;
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("pointerdown", (event) => this.drag(event));
    viewer.onLayout.push(() => this.place());
  }

  // The part of the picture's width that the window shows, in pixels of the screen.
  seen() {
    const pane = this.viewer.main;
    const [frame, picture] = [pane.root.getBoundingClientRect(), pane.stage.getBoundingClientRect()];
    const left = Math.max(frame.left, picture.left);
    const right = Math.min(frame.left + pane.root.clientWidth, picture.right);
    return { left, width: Math.max(right - left, 1), frame, picture };
  }

  place() {
    if (this.viewer.view !== "swipe") return;
    const { left, width, frame, picture } = this.seen();
    const at = left + (width * this.percent) / 100;
    this.root.style.left = `${at - frame.left}px`;
    const cut = (at - picture.left) / this.viewer.scale;
    one("#left-part rect").setAttribute("width", Math.max(cut, 0));
    const right = one("#right-part rect");
    right.setAttribute("x", cut);
    right.setAttribute("width", Math.max(this.viewer.size.width - cut, 0));
  }

  set(percent) {
    this.percent = between(0, percent, 100);
    const told = Math.round(this.percent);
    this.root.setAttribute("aria-valuenow", told);
    this.root.setAttribute("aria-valuetext", `${told} % baseline`);
    this.place();
  }

  drag(event) {
    event.preventDefault();
    this.root.focus({ preventScroll: true });
    this.root.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const { left, width } = this.seen();
      this.set((100 * (moved.clientX - left)) / width);
    };
    this.root.addEventListener("pointermove", move);
    const end = () => this.root.removeEventListener("pointermove", move);
    this.root.addEventListener("lostpointercapture", end, { once: true });
  }

  onKey(event) {
    const steps = {
      ArrowLeft: -DIVIDER_STEP, ArrowDown: -DIVIDER_STEP, PageDown: -5 * DIVIDER_STEP, Home: -100,
      ArrowRight: DIVIDER_STEP, ArrowUp: DIVIDER_STEP, PageUp: 5 * DIVIDER_STEP, End: 100,
    };
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.set(this.percent + steps[event.key]);
  }
}

// Which picture is seen where one is seen at a time, and the clock that changes it.
class Turner {
  constructor(viewer) {
    this.viewer = viewer;
    this.isRunning = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    viewer.onView.push(() => this.begin());
  }

  begin() {
    this.see("new");
    clearInterval(this.clock);
    const blinks = this.viewer.view === "blink";
    if (blinks && this.isRunning) this.clock = setInterval(() => this.turn(), BLINK_MS);
    one("#blink").hidden = !blinks;
    one("#blink").textContent = this.isRunning ? "Pause" : "Blink";
  }

  toggle() {
    this.isRunning = !this.isRunning;
    this.begin();
  }

  see(which) {
    this.viewer.root.dataset.seen = which;
  }

  turn() {
    this.see(this.viewer.root.dataset.seen === "new" ? "baseline" : "new");
  }

  // By hand: from any view, to the other picture at the same place.
  turnByHand() {
    if (!this.viewer.isPair) return;
    if (this.viewer.view === "blink" && this.isRunning) this.toggle();
    if (!["blink", "one"].includes(this.viewer.view)) this.viewer.show("one");
    this.turn();
  }
}

// The places that changed, one after the other.
class Regions {
  constructor(viewer) {
    this.viewer = viewer;
    this.marks = all(".region", viewer.root);
    this.at = -1;
  }

  go(step) {
    const count = this.marks.length;
    if (!count) return;
    this.marks[this.at]?.classList.remove("is-current");
    this.at = this.at < 0 ? (step > 0 ? 0 : count - 1) : (this.at + step + count) % count;
    const mark = this.marks[this.at];
    mark.classList.add("is-current");
    const { x, y, width, height } = one("rect", mark).getBBox();
    this.viewer.look({ x, y, width, height });
    one("#region").textContent = `Region ${this.at + 1} of ${count}`;
  }
}

// The pictures of a story that did not hold still, one at a time at one place.
class Frames {
  constructor(root) {
    this.root = root;
    this.frames = all("figure", root);
    this.at = 0;
  }

  flip() {
    if (this.root.classList.contains("is-flipped")) this.at = (this.at + 1) % this.frames.length;
    this.root.classList.add("is-flipped");
    this.frames.forEach((frame, place) => frame.classList.toggle("is-seen", place === this.at));
    one("#frame").textContent = `Frame ${this.at + 1} of ${this.frames.length}`;
  }
}

// Decisions go the way of the forms. What was decided a moment ago is told on the page after it,
// where it can be taken back.
class Decisions {
  constructor() {
    this.isLeaving = false;
    this.last = this.lastTaken();
    document.addEventListener("submit", (event) => this.onSubmit(event));
    addEventListener("pageshow", () => (this.isLeaving = false)); // back from the page after it
    this.tell();
  }

  take(decision) {
    const button = one(`#decision button[value="${decision}"]`);
    if (button) button.form.requestSubmit(button);
    else if (decision === "none" && this.last) one("#flash form")?.requestSubmit();
  }

  onSubmit(event) {
    if (event.target.method !== "post") return;
    if (this.isLeaving) return event.preventDefault(); // a key pressed twice decides once
    this.isLeaving = true;
    const { story } = event.target.dataset;
    const decision = event.submitter?.value;
    if (!story) return memory.write(forNow, "taken", null);
    const id = one('[name="snapshot"]', event.target).value.split(":")[0];
    const action = event.target.getAttribute("action");
    const from = location.pathname + location.search;
    memory.write(forNow, "taken", { story, decision, id, action, from, at: Date.now() });
  }

  // The server may have refused it: then the strip still says so.
  lastTaken() {
    const taken = memory.read(forNow, "taken");
    if (!taken || Date.now() - taken.at > FLASH_MS || taken.from === location.pathname + location.search) return null;
    const shot = one(`.shot[data-id="${taken.id}"]`);
    return shot && shot.dataset.decision !== taken.decision ? null : taken;
  }

  tell() {
    if (!this.last) return;
    const { story, decision } = this.last;
    const flash = one("#flash");
    requestAnimationFrame(() => {
      const waiting = one("#decision small")?.textContent ?? "";
      flash.append(`${decision === "accepted" ? "Accepted" : "Denied"} ${story}. ${waiting} `, this.undoing());
    });
  }

  undoing() {
    const { action, id, decision, from } = this.last;
    const form = document.createElement("form");
    Object.assign(form, { method: "post" });
    form.setAttribute("action", action);
    form.dataset.keepsView = "";
    for (const [name, value] of Object.entries({ snapshot: `${id}:${decision}`, decision: "none", then: from })) {
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    const button = Object.assign(document.createElement("button"), { className: "button" });
    button.append("Undo");
    form.append(button);
    return form;
  }
}

// Single keys: never in a field, never with a modifier, and not at all where they are turned off.
class Keys {
  constructor(acts, dialog) {
    this.acts = acts;
    this.dialog = dialog;
    this.toggle = one("#single-keys");
    this.toggle.checked = memory.read(kept, "keys") !== "off";
    this.toggle.addEventListener("change", () => this.choose());
    this.choose();
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  choose() {
    document.documentElement.classList.toggle("keys-on", this.toggle.checked);
    memory.write(kept, "keys", this.toggle.checked ? "on" : "off");
  }

  onKey(event) {
    const act = this.acts[event.key];
    if (!act || !this.toggle.checked || this.dialog.open || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    event.preventDefault();
    act();
  }
}

// What others decide meanwhile appears by itself: the same page is asked for again, and only its
// decision and its strip are taken over.
class Fresh {
  constructor(onChange) {
    this.onChange = onChange;
    setInterval(() => this.look(), FRESH_MS);
    document.addEventListener("visibilitychange", () => this.look());
  }

  async look() {
    if (document.hidden) return;
    const answer = await fetch(location.pathname + location.search).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    this.takeMarks(page);
    this.takeDecision(page);
  }

  takeDecision(page) {
    const [now, then] = [one("#decision"), one("#decision", page)];
    const said = (each) => one(".decided .sign", each)?.textContent;
    if (!then || said(now) === said(then)) return;
    const held = now.contains(document.activeElement);
    now.replaceWith(document.adoptNode(then));
    if (held) one("button", then)?.focus();
    one("#flash").textContent = `Decided by somebody else meanwhile: ${said(then)}.`;
    this.onChange();
  }

  takeMarks(page) {
    for (const shot of all(".shot")) {
      const other = one(`.shot[data-id="${shot.dataset.id}"]`, page);
      if (!other || other.dataset.decision === shot.dataset.decision) continue;
      shot.dataset.decision = other.dataset.decision;
      one(".mark", shot)?.replaceWith(document.adoptNode(one(".mark", other)));
    }
  }
}

const ENDS = { next: "This is the last one.", prev: "This is the first one." };

function follow(rel) {
  const link = one(`.beside a[rel="${rel}"]`);
  if (link) link.click();
  else one("#flash").textContent = ENDS[rel];
}

// The pictures that are looked at next are there, and decoded, before they are asked for.
function lookAhead(links) {
  for (const link of links) {
    const image = new Image();
    image.src = link;
    image.decode().catch(() => {}); // it is tried again when it is shown
  }
}

function bringCurrentIntoView() {
  const [strip, current] = [one(".shots"), one(".shot[aria-current]")];
  if (!strip || !current) return;
  const [outer, inner] = [strip.getBoundingClientRect(), current.getBoundingClientRect()];
  strip.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  strip.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
}

function begin() {
  const root = one("#viewer");
  const dialog = one("#keys");
  const address = new Address();
  const decisions = new Decisions();
  const acts = {
    j: () => follow("next"),
    k: () => follow("prev"),
    a: () => decisions.take("accepted"),
    y: () => decisions.take("accepted"),
    d: () => decisions.take("denied"),
    n: () => decisions.take("denied"),
    u: () => decisions.take("none"),
    "?": () => dialog.showModal(),
  };
  const doings = { keys: acts["?"] };
  if (one(".stage", root)) look(root, address, acts, doings);
  const frames = one("#flip") && new Frames(one("#flip"));
  if (frames) acts.f = doings.flip = () => frames.flip();
  document.addEventListener("click", (event) => doings[event.target.closest("[data-do]")?.dataset.do]?.());
  document.documentElement.classList.add("is-scripted");
  new Keys(acts, dialog);
  new Fresh(() => address.goAlong());
  address.goAlong();
  bringCurrentIntoView();
  addEventListener("load", () => lookAhead(root.dataset.ahead.split(" ").filter(Boolean)));
}

// Gives the pictures their views, and adds what keys and buttons do with them.
function look(root, address, acts, doings) {
  const viewer = new Viewer(root, address);
  const regions = new Regions(viewer);
  const turner = viewer.isPair ? new Turner(viewer) : null;
  const divider = viewer.isPair ? new Divider(viewer) : null;
  const show = (view) => {
    viewer.show(view);
    if (view === "swipe") divider.root.focus({ preventScroll: true });
    else viewer.focus();
  };
  viewer.show(address.view);
  if (viewer.isPair) VIEWS.forEach((view, place) => (acts[place + 1] = () => show(view)));
  const zooms = {
    "zoom": () => viewer.zoomRound(),
    "zoom-in": () => viewer.zoomBy(1),
    "zoom-out": () => viewer.zoomBy(-1),
    "region-on": () => regions.go(1),
    "region-back": () => regions.go(-1),
    "turn": () => turner?.turnByHand(),
    "blink": () => turner?.toggle(),
  };
  Object.assign(doings, zooms);
  const byKey = { z: "zoom", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "]": "region-on", "[": "region-back", x: "turn" };
  for (const [key, name] of Object.entries(byKey)) {
    acts[key] = () => {
      zooms[name]();
      viewer.focus();
    };
  }
  acts.h = () => one("#show-mask")?.click();
  root.addEventListener("click", (event) => {
    const { show: view } = event.target.closest("[data-show]")?.dataset ?? {};
    if (view) show(view);
  });
}

begin();
