"""One page shows story after story: what is not as each gives by itself is shot again."""

import hashlib
import json
import os
import signal
from contextlib import suppress
from dataclasses import replace

import pytest

from consumer.capture.sitting import Picture
from consumer.capture.take_picture import Glance
from consumer.messages import Page, Stage
from storyshelf.bundle.look import Look
from storyshelf.ids import BlobKey, StoryId
from storyshelf.snapshots.steadiness import Level
from tests.consumer.conftest import ORDER, BuiltStorybook, Opener, Set
from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook, html
from tests.consumer.test_stuck_browser import named
from tests.storybook_builds import Look as BuiltAs
from tests.storybook_builds import build_example

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

LINE = "<p>text</p>"
# What a story leaves, what of it is told, and a story that shows it.
LEAKS = {
    "style of html": (
        "document.documentElement.style.filter = 'invert(1)';",
        'attribute style="filter: invert(1);" of html',
        SQUARE,
    ),
    "portal": (
        "const left = document.createElement('div'); left.id = 'toast';"
        " left.textContent = 'Saved'; document.body.append(left);",
        "div#toast in body",
        SQUARE,
    ),
    "style sheet": (
        "const rules = document.createElement('style'); rules.className = 'theme';"
        " rules.textContent = 'p { color: red }'; document.head.append(rules);",
        "style.theme in head",
        LINE,
    ),
    "interval": (
        "setInterval(() => { root.firstChild.style.width = '200px'; }, 5);",
        "1 running intervals",
        SQUARE,
    ),
    "observer": (
        "new MutationObserver(() => { root.style.opacity = '0.5'; })"
        ".observe(document.body, { childList: true, subtree: true });",
        "1 observers of the document",
        SQUARE,
    ),
    "path": ("history.pushState({}, '', '/elsewhere');", "path /elsewhere", None),
    "global": ("window.legacyTheme = 'dark';", "global legacyTheme", None),
    "prototype": ("Array.prototype.at = () => 'wrong';", "", None),
}
SHOWS = "root.innerHTML = `<p>${location.pathname} ${window.legacyTheme} ${['right'].at(0)}</p>`;"
# What a story does to the page that the next one is to be shown in.
SABOTAGE = {
    "a reload": "setTimeout(() => location.reload(), 400);",
    "a dialog": "setInterval(() => alert('still here'), 300);",
    "lists that lose all": "Array.from = () => []; Array.prototype.filter = () => [];",
}
TRACELESS = {
    "storage": (
        "localStorage.setItem('seen', 1); sessionStorage.setItem('seen', 1);"
        " document.cookie = 'seen=1';",
        "root.textContent = [localStorage.seen, sessionStorage.seen, document.cookie].join();",
    ),
    "focus": (
        "root.innerHTML = '<input>'; root.firstChild.focus();",
        "root.innerHTML = '<input autofocus>';",
    ),
    "scroll": (
        "root.innerHTML = '<p style=\"height: 3000px\">'; scrollTo(0, 2000);",
        "root.innerHTML = '<p style=\"height: 900px\">tall</p>';",
    ),
    "chance": (
        "Math.random(); crypto.randomUUID();",
        "root.textContent = [Math.random(), crypto.randomUUID(), Date.now()].join();",
    ),
    "a frame under way": (  # a library that waits for its frame before it asks for another
        "window.pump ??= { due: null, ask(act) { const idle = !this.due; this.due = act;"
        " if (idle) requestAnimationFrame(() => { const act = this.due; this.due = null; act(); });"
        " } }; const turn = () => window.pump.ask(turn); turn(); root.textContent = 'turns';",
        "window.pump ??= { due: null, ask(act) { const idle = !this.due; this.due = act;"
        " if (idle) requestAnimationFrame(() => { const act = this.due; this.due = null; act(); });"
        " } }; window.pump.ask(() => { root.textContent = 'drawn'; });",
    ),
}


async def by_itself(stage: Set, story: str) -> BlobKey:
    return key_of(await stage.shoot(story))


async def switched(stage: Set, story: str, baseline: BlobKey | None, **changes: object) -> Picture:
    order = replace(ORDER, baseline=baseline, **changes)  # type: ignore[arg-type]  # by name
    return await stage.shoot(story, order=order, page=Page.SWITCHED)


def key_of(picture: Picture) -> BlobKey:
    return BlobKey(hashlib.sha256(picture.png).hexdigest())


def pair(first: str, second: str) -> LittleStorybook:
    stories = {"a--first": LittleStory(first), "a--second": LittleStory(second)}
    return LittleStorybook({**stories, "a--third": LittleStory(second)})


async def test_stories_follow_each_other_in_one_document(opened: Opener) -> None:
    stories = {f"a--{n}": html(f"<p>{n}</p>") for n in range(4)}
    stage = await opened(LittleStorybook(stories))
    keys = {story: await by_itself(stage, story) for story in stories}
    pictures = [await switched(stage, story, keys[story]) for story in stories]
    assert [key_of(picture) for picture in pictures] == list(keys.values())
    assert {picture.page for picture in pictures} == {Page.SWITCHED}  # the last one's page is there
    assert len(set(keys.values())) == len(stories)


async def test_a_story_without_a_baseline_or_in_another_window_is_loaded(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": html(SQUARE), "a--b": html(LINE)}))
    key = await by_itself(stage, "a--a")
    assert (await switched(stage, "a--b", None)).page is Page.SHARED
    assert (await switched(stage, "a--a", key, viewport_width_px=700)).page is Page.SHARED
    looks = await switched(stage, "a--a", key, look=Look(args=json.dumps({"label": "x"})))
    assert looks.page is Page.SHARED
    assert (await switched(stage, "a--a", key)).page is Page.SHARED
    assert (await switched(stage, "a--a", key, level=Level.AGAIN)).page is Page.SHARED


async def test_a_changed_story_is_shot_by_itself_and_blames_nobody(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": html(SQUARE), "a--b": html(LINE)}))
    old, new = await by_itself(stage, "a--a"), await by_itself(stage, "a--b")
    picture = await switched(stage, "a--b", old)
    assert (picture.page, key_of(picture), picture.order_dependence) == (Page.SHARED, new, None)


@pytest.mark.parametrize("leak", LEAKS)
async def test_what_a_story_leaves_changes_no_picture_and_is_named(
    opened: Opener, leak: str
) -> None:
    does, told, body = LEAKS[leak]
    draws = SHOWS if body is None else f"root.innerHTML = {json.dumps(body)};"
    stage = await opened(pair(f"root.innerHTML = {json.dumps(SQUARE)}; {does}", draws))
    key = await by_itself(stage, "a--second")
    first = await by_itself(stage, "a--first")
    picture = await switched(stage, "a--second", key)
    assert (picture.page, key_of(picture)) == (Page.SHARED, key)
    found = picture.order_dependence
    assert found is not None
    assert found.suspect == "a--first"
    assert told in (*found.left, "")
    assert await by_itself(stage, "a--first") == first


@pytest.mark.parametrize("kind", TRACELESS)
async def test_what_is_set_back_between_two_stories_leaves_no_trace(
    opened: Opener, kind: str
) -> None:
    leaves, shows = TRACELESS[kind]
    stage = await opened(pair(f"root.textContent = 'first'; {leaves}", shows))
    key = await by_itself(stage, "a--second")
    await by_itself(stage, "a--first")
    picture = await switched(stage, "a--second", key)
    assert (picture.page, key_of(picture)) == (Page.SWITCHED, key)


async def test_what_hurt_two_stories_is_not_tried_on_a_third(opened: Opener) -> None:
    does, _, body = LEAKS["portal"]
    stage = await opened(
        pair(f"root.textContent = 'first'; {does}", f"root.innerHTML = {json.dumps(body)};")
    )
    key = await by_itself(stage, "a--third")
    blamed = []
    for story in ("a--second", "a--third", "a--second"):
        await by_itself(stage, "a--first")
        picture = await switched(stage, story, key)
        assert key_of(picture) == key
        blamed.append(picture.order_dependence is not None)
    assert blamed == [True, True, False]


async def test_a_story_that_fails_only_after_another_is_right_by_itself(opened: Opener) -> None:
    fails = f"if (window.used) throw new Error('used up'); root.innerHTML = {json.dumps(SQUARE)};"
    stage = await opened(pair("window.used = true; root.textContent = 'a';", fails))
    key = await by_itself(stage, "a--second")
    await by_itself(stage, "a--first")
    picture = await switched(stage, "a--second", key)
    assert (picture.error, picture.page, key_of(picture)) == (None, Page.SHARED, key)
    assert picture.order_dependence is not None
    assert "global used" in picture.order_dependence.left


@pytest.mark.parametrize("act", SABOTAGE)
async def test_what_a_story_does_to_its_page_is_not_told_of_the_next(
    opened: Opener, act: str
) -> None:
    first = f"root.textContent = 'first'; {SABOTAGE[act]}"
    waits = "root.textContent = 'second'; await new Promise((go) => setTimeout(go, 500));"
    stage = await opened(pair(first, waits))
    key = await by_itself(stage, "a--second")
    await by_itself(stage, "a--first")
    after = await switched(stage, "a--second", key)
    assert (after.page, key_of(after)) == (Page.SHARED, key)
    assert (after.error, after.warnings) == (None, ())
    assert (await switched(stage, "a--third", key)).page is Page.SWITCHED


async def test_a_page_with_a_warning_or_a_story_gone_wrong_is_not_shared(opened: Opener) -> None:
    stories = {
        "a--square": html(SQUARE),
        "a--missing": html("<img src='gone.png'>"),
        "a--throws": LittleStory("throw new Error('no');"),
        "a--leaves": LittleStory("location.href = '/iframe.html?id=a--square';"),
    }
    stage = await opened(LittleStorybook(stories))
    key = await by_itself(stage, "a--square")
    for other in ("a--missing", "a--throws", "a--leaves"):
        await stage.shoot(other)
        picture = await switched(stage, "a--square", key)
        assert (picture.page, key_of(picture)) == (Page.SHARED, key)
        odd = await switched(stage, other, key)
        assert odd.page is Page.SHARED
        assert bool(odd.error) == (other != "a--missing")


async def test_a_story_that_only_takes_long_blames_nobody() -> None:
    late = Glance(None, ("global used",), StoryId("a--first"), tells=True, waited_ms=4_000.0)
    takes_ms = {3_900.0: False, 2_100.0: False, 90.0: True}  # by itself: does it depend on others?
    pictures = [Picture(b"", 9, 9, None, timings_ms={"render": each}) for each in takes_ms]
    assert [late.is_telling(each) for each in pictures] == list(takes_ms.values())
    ended = replace(late, waited_ms=0.0)
    assert all(ended.is_telling(each) for each in pictures)
    assert not any(replace(ended, tells=False).is_telling(each) for each in pictures)
    assert not any(ended.is_telling(replace(each, level=Level.AGAIN)) for each in pictures)


async def test_a_story_with_a_long_delay_is_loaded_at_once(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": html(SQUARE), "a--b": html(LINE)}))
    key = await by_itself(stage, "a--b")
    await by_itself(stage, "a--a")
    assert (await switched(stage, "a--b", key, delay_ms=200)).page is Page.SWITCHED
    await by_itself(stage, "a--a")
    stage.stages.clear()
    waited = await switched(stage, "a--b", key, delay_ms=1_100)
    assert (waited.page, key_of(waited)) == (Page.SHARED, key)
    assert stage.stages.count(Stage.OPENING) == 1


@pytest.mark.parametrize(
    ("at", "name"),
    [
        (Stage.RENDERING, b"node"),
        (Stage.SHOOTING, b"headless"),
        pytest.param(Stage.OPENING, b"headless", marks=pytest.mark.long),
        pytest.param(Stage.SETTLING, b"headless", marks=pytest.mark.long),
        pytest.param(Stage.SHOOTING, b"node", marks=pytest.mark.long),
    ],
)
async def test_a_browser_killed_under_a_switched_page_costs_no_story(
    opened: Opener, at: Stage, name: bytes
) -> None:
    stage = await opened(LittleStorybook({"a--a": html(SQUARE), "a--b": html(LINE)}))
    keys = {story: await by_itself(stage, story) for story in ("a--b", "a--a")}

    async def kill_once(reached: Stage) -> None:
        if reached is at and stage.stages.count(at) == 1:
            for pid in named(name):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    stage.stages.clear()
    killed = await switched(replace(stage, at_stage=kill_once), "a--b", keys["a--b"])
    assert (killed.error, key_of(killed), killed.page) == (None, keys["a--b"], Page.SHARED)
    assert killed.order_dependence is None
    assert Stage.RECOVERING in stage.stages
    after = await switched(stage, "a--a", keys["a--a"])
    assert (key_of(after), after.page) == (keys["a--a"], Page.SWITCHED)


@pytest.mark.timeout(300)  # may have to wait for npm, which installs and builds
async def test_all_of_a_real_storybook_looks_the_same_in_one_page(opened: Opener) -> None:
    folder = build_example(BuiltAs.CURRENT)
    entries = json.loads((folder / "index.json").read_text())["entries"].values()
    stories = [entry["id"] for entry in entries if entry["type"] == "story"][:12]
    stage = await opened(BuiltStorybook(folder))
    keys = {story: await by_itself(stage, story) for story in stories}
    for story in reversed(stories):
        picture = await switched(stage, story, keys[story])
        assert (key_of(picture), picture.order_dependence) == (keys[story], None)
    assert await by_itself(stage, stories[0]) == keys[stories[0]]
