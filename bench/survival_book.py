"""The Storybook that survival is measured on: plain stories, and at each tenth place a hazard."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.consumer.little_storybook import LittleStory, LittleStorybook

EVERY = 10  # one story in so many is a hazard
TIMEOUT_MS = 30_000  # a page that hoards on a busy machine took 12 s to die of it
OK = ""  # the code of a story that has its picture
LATER = "await new Promise((go) => setTimeout(go, 150));"


@dataclass(frozen=True, slots=True)
class Hazard:
    """What a story does, and the codes that it may end with."""

    does: str
    codes: frozenset[str]


def _ends(does: str, *codes: str) -> Hazard:
    return Hazard(does, frozenset(codes))


WORKER = b"""
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
self.addEventListener("fetch", (event) => event.respondWith(new Response("<p>garbage")));
"""
HAZARDS: Mapping[str, Hazard] = {
    "alerts": _ends("alert(1); confirm(2); prompt(3); root.textContent = 'asked';", OK),
    "console": _ends(
        "const line = 'x'.repeat(100_000); for (let at = 0; at < 2_000; at++) console.log(line);"
        "root.textContent = '200 MB said';",
        OK,
    ),
    # An array longer than V8 can make while it parses; on a busy machine that takes half a minute.
    "crashes": _ends(
        "JSON.parse(`[${'0,'.repeat(2 ** 27)}0]`);", "page_crashed", "page_unresponsive"
    ),
    "downloads": _ends(
        "const link = document.createElement('a'); link.download = 'loot.bin';"
        "link.href = URL.createObjectURL(new Blob(['loot'])); link.click();"
        f"root.textContent = 'downloaded'; {LATER}",
        OK,
    ),
    "frames": _ends(
        "for (let at = 0; at < 1_000; at++) root.append(document.createElement('iframe'));",
        OK, "page_unresponsive", "render_timeout", "page_crashed",
    ),
    "hoards": _ends(
        "window.kept = []; for (let at = 0; at < 3_072; at++)"
        " window.kept.push(new Array(131_072).fill(at + 0.5));",
        "page_crashed",
    ),
    "leaves": _ends(f"location.href = '/elsewhere.html'; {LATER}{LATER}{LATER}", "navigated_away"),
    "loops": _ends("while (true) ;", "page_unresponsive"),
    "loops-later": _ends(
        "root.textContent = 'calm'; setTimeout(() => { while (true) ; }, 20);", "page_unresponsive"
    ),
    "opens": _ends(
        "for (let at = 0; at < 5; at++) window.open('/elsewhere.html');"
        f"root.textContent = 'opened'; {LATER}",
        OK,
    ),
    "overwrites": _ends(
        "document.open(); document.write('<p>nothing else'); document.close();",
        OK, "navigated_away", "render_failed", "render_timeout",
    ),
    "plays-badly": Hazard("", frozenset({"play_failed"})),
    "reloads": _ends(f"location.reload(); {LATER}{LATER}{LATER}", "navigated_away"),
    "sockets": _ends(
        "window.kept = []; for (let at = 0; at < 1_000; at++)"
        " window.kept.push(new WebSocket(`ws://${location.host}/${at}`));"
        "root.textContent = 'connected';",
        OK,
    ),
    "stores": _ends(
        "const cache = await caches.open('much'); const much = new Uint8Array(4 << 20);"
        "for (let at = 0; at < 25; at++)"
        " await cache.put(`/much/${at}`, new Response(much)).catch(() => {});"
        "root.textContent = '100 MB stored';",
        OK,
    ),
    "throws": _ends("throw new Error('no data');", "render_failed"),
    "worker": _ends(
        "await navigator.serviceWorker.register('/worker.js', { scope: '/' });"
        "await navigator.serviceWorker.ready; root.textContent = 'served by a worker';",
        OK,
    ),
    "workers": _ends(
        "const script = URL.createObjectURL(new Blob(['setInterval(() => {}, 5)']));"
        "window.kept = []; for (let at = 0; at < 200; at++) window.kept.push(new Worker(script));"
        "root.textContent = 'working';",
        OK, "page_unresponsive", "render_timeout", "page_crashed",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plot:
    """So many stories; each so-manieth is a hazard, of one kind after the other."""

    stories: int
    every: int = EVERY
    kinds: Sequence[str] = tuple(HAZARDS)
    timeout_ms: int = TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class Cast:
    """The stories by id, in the order in which they are shot."""

    stories: Mapping[str, LittleStory]
    hazards: Mapping[str, Hazard]

    def plain(self) -> "Cast":
        """Return it without the hazards: what the others look like when nothing goes before."""
        return Cast({k: v for k, v in self.stories.items() if k not in self.hazards}, {})


def cast(plot: Plot) -> Cast:
    """Return the stories of a plot."""
    stories: dict[str, LittleStory] = {}
    hazards: dict[str, Hazard] = {}
    for number in range(plot.stories):
        if number % plot.every != plot.every - 1:
            stories[f"plain-{number:04}--story"] = _plain(number)
            continue
        kind = plot.kinds[number // plot.every % len(plot.kinds)]
        name = f"{kind}-{number:04}--story"
        hazards[name] = HAZARDS[kind]
        play = "throw new Error('expected 1');" if kind == "plays-badly" else ""
        stories[name] = LittleStory(HAZARDS[kind].does, play)
    return Cast(stories, hazards)


def _plain(number: int) -> LittleStory:
    """Return a story that looks like no other, and fails where it finds a trace of another."""
    hue, width = number * 47 % 360, 80 + number * 13 % 400
    rows = "".join(f"<li>Row {row} of story {number}</li>" for row in range(3 + number % 12))
    box = f"width: {width}px; background: hsl({hue} 70% 80%); padding: 12px"
    body = f"<section style='{box}'><h2>Story {number}</h2><ul>{rows}</ul></section>"
    trace = "Object.keys(localStorage).length || document.cookie || window.kept"
    return LittleStory(
        f"if ({trace}) throw new Error('found a trace'); root.innerHTML = {json.dumps(body)};"
    )


def lay(cast: Cast, folder: Path) -> Path:
    """Write it as `storybook build` would; return the folder."""
    folder.mkdir()
    files = {"worker.js": WORKER, "elsewhere.html": b"<p>elsewhere"}
    for path, content in LittleStorybook(cast.stories, files).files_by_path().items():
        (folder / path).write_bytes(content)
    entries = {
        story: {"id": story, "type": "story", "title": story, "name": "Story", "importPath": story}
        for story in cast.stories
    }
    (folder / "index.json").write_text(json.dumps({"v": 5, "entries": entries}))
    return folder
