"""Captures of a folder without a server: the process, in a real browser."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from playwright.async_api import Page, async_playwright

from storyshelf.diff.png import decode
from tests.consumer.conftest import NAMES
from tests.consumer.little_storybook import BOX, ENDLESS, SQUARE, LittleStory, html
from tests.consumer.local_storybook import built
from tests.ui.browsing import faults_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

INJECTED = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
# What is drawn by chance is the same each time; a fresh key is the one thing that never is.
MOVING = f"""
const key = await crypto.subtle.generateKey({{ name: "AES-GCM", length: 128 }}, true, ["encrypt"]);
const [red, green, blue] = new Uint8Array(await crypto.subtle.exportKey("raw", key));
const inner = `width: 20px; height: 10px; background: rgb(${{red}} ${{green}} ${{blue}})`;
root.innerHTML = `<div style="{BOX}"><div style="${{inner}}"></div></div>`;
"""
THROWN = json.dumps(INJECTED).replace("</", "<\\/")  # or it would end the script it stands in
STORIES = {
    "a-button--plain": html(SQUARE),
    "b-card--thrown": LittleStory(f"throw new Error({THROWN});"),
    "c-form--play": LittleStory(
        f"root.innerHTML = {json.dumps(SQUARE)};",
        play="console.error('<b>just before</b>'); throw new Error('expected 3 to be 4');",
    ),
    "d-list--image": html("<img src='/gone.png' style='width: 40px; height: 40px'>"),
    "../../e--out": html(SQUARE),
    "имя--" + "long" * 60: html(SQUARE),
    "f--off": LittleStory("", parameters="{storyshelf: {disableSnapshot: true}}"),
    "g--sizes": LittleStory(
        f"root.innerHTML = {json.dumps(SQUARE)};",
        parameters="{chromatic: {viewports: [320, 1200]}}",
    ),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a capture left."""

    code: int
    said: str
    out: Path

    @property
    def report(self) -> dict[str, Any]:
        """Read report.json."""
        read: dict[str, Any] = json.loads((self.out / "report.json").read_text())
        return read

    def story(self, story_id: str) -> dict[str, Any]:
        """Return a story's part of the report."""
        found: dict[str, Any] = next(s for s in self.report["stories"] if s["id"] == story_id)
        return found


def command(folder: Path, out: Path, *options: str) -> Sequence[str]:
    return [sys.executable, "-m", "consumer.local", str(folder), "--out", str(out), *options]


def ran(folder: Path, out: Path, *options: str, **environ: str) -> Ran:
    done = subprocess.run(
        command(folder, out, *options),
        env=dict(os.environ) | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stderr, out)


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run over every story."""
    top = tmp_path_factory.mktemp("local")
    folder = built(top / "storybook", STORIES, {"a-button--plain": f"Button {INJECTED}"})
    return ran(folder, top / "out", "--trace", "--accessibility")


def test_a_story_that_fails_is_the_exit_code_and_the_others_are_captured(all_of_them: Ran) -> None:
    assert all_of_them.code == 1, all_of_them.said
    states = {one["id"].partition("--")[0]: one["state"] for one in all_of_them.report["stories"]}
    assert states["a-button"] == "ok"
    assert (states["b-card"], states["c-form"]) == ("errored", "errored")
    assert (states["d-list"], states["f"]) == ("warnings", "skipped")
    assert all_of_them.report["complete"] is True
    assert "ERRORED  c-form--play" in all_of_them.said


def test_a_picture_is_what_the_browser_drew(all_of_them: Ran) -> None:
    pixels = decode((all_of_them.out / "a-button--plain.png").read_bytes())
    assert pixels.shape == (72, 132, 4)
    assert pixels[20, 20].tolist() == [255, 0, 0, 255]


def test_what_went_wrong_is_told_with_its_words(all_of_them: Ran) -> None:
    played = all_of_them.story("c-form--play")
    assert played["error"]["code"] == "play_failed"
    assert "expected 3 to be 4" in played["error"]["message"]
    assert played["error"]["stack"]
    assert {"level": "error", "text": "<b>just before</b>"} in played["console"]
    assert "gone.png" in all_of_them.story("d-list--image")["failed_requests"][0]["text"]


def test_a_trace_of_what_went_wrong_holds_the_story_and_nothing_of_this_machine(
    all_of_them: Ran,
) -> None:
    traced = [one["id"] for one in all_of_them.report["stories"] if one["trace"]]
    assert traced == ["b-card--thrown", "c-form--play"]
    page = (all_of_them.out / "index.html").read_text()
    assert "show-trace &#x27;c-form--play~trace.zip&#x27;" in page
    assert '<a href="c-form--play~trace.zip" download>' in page
    with ZipFile(all_of_them.out / all_of_them.story("c-form--play")["trace"]) as trace:
        held = {name: trace.read(name) for name in trace.namelist()}
    assert {"trace.trace", "trace.network"} <= held.keys()
    assert any(name.startswith("screencast/") for name in held)
    assert b"just before" in held["trace.trace"]  # what it wrote to the console
    assert b'"frame-snapshot"' in held["trace.trace"]
    for secret in (b".py", b"/tmp", b"stacks", str(all_of_them.out).encode()):
        assert not [name for name, content in held.items() if secret in content]


def test_what_a_story_breaks_of_accessibility_is_told_where_it_was_asked_for(
    all_of_them: Ran,
) -> None:
    (rule,) = all_of_them.story("d-list--image")["accessibility"]["violations"]
    assert (rule["rule"], rule["impact"], len(rule["places"])) == ("image-alt", "critical", 1)
    assert all_of_them.story("a-button--plain")["accessibility"]["violations"] == []
    assert all_of_them.story("b-card--thrown")["accessibility"] is None
    assert "accessibility rules are broken 1 times" in all_of_them.said
    page = (all_of_them.out / "index.html").read_text()
    assert "image-alt, critical: Images must have alternative text" in page
    assert "&lt;img src=&quot;/gone.png&quot;" in page


def test_a_picture_s_time_is_told_by_phases(all_of_them: Ran) -> None:
    story = all_of_them.story("a-button--plain")
    assert list(story["timings_ms"])[:4] == ["open", "render", "settle", "shoot"]
    assert 0 < sum(story["timings_ms"].values()) <= story["took_ms"]


def test_no_name_leads_out_of_the_folder(all_of_them: Ran) -> None:
    pictures = {one["picture"] for one in all_of_them.report["stories"] if one["picture"]}
    beside = {path.name for path in all_of_them.out.parent.iterdir()}
    found = {path.name for path in all_of_them.out.iterdir()}
    assert beside == {"storybook", "out"}
    traces = {"b-card--thrown~trace.zip", "c-form--play~trace.zip"}
    assert found == {*pictures, *traces, "report.json", "index.html", ".storyshelf-capture"}
    assert {"g--sizes@320px.png", "g--sizes@1200px.png"} <= pictures


def test_a_story_that_moves_is_found_and_shown(tmp_path: Path) -> None:
    folder = built(
        tmp_path / "storybook", {"still--one": html(SQUARE), "moves--one": LittleStory(MOVING)}
    )
    repeated = ran(folder, tmp_path / "out", "--repeat", "8", "--parallel", "2", "--trace")
    moves = repeated.story("moves--one")
    assert repeated.code == 1
    assert [one["id"] for one in repeated.report["stories"] if one["moved"]] == ["moves--one"]
    assert (moves["shots"], sum(frame["times"] for frame in moves["frames"])) == (8, 8)
    assert f"{len(moves['frames'])} different pictures in 8 captures" in moves["how"]
    assert moves["frames"][1]["regions"]
    assert (repeated.out / moves["frames"][1]["file"]).is_file()
    assert "moves: moves--one" in repeated.said
    assert moves["trace"] == "moves--one~trace.zip"
    assert (moves["untraced"], moves["shots"]) == ("", 8)
    assert repeated.story("still--one")["trace"] is None


def test_only_what_was_asked_for_is_captured_and_an_id_beats_its_parameters(tmp_path: Path) -> None:
    folder = built(tmp_path / "storybook", STORIES)
    options = ("--story", "a-*", "--story", "f--off", "--width", "400", "--height", "300")
    asked = ran(folder, tmp_path / "out", *options)
    assert asked.code == 0, asked.said
    found = [(one["id"], one["state"]) for one in asked.report["stories"]]
    assert [one for one, _ in found] == ["a-button--plain", "f--off"]
    assert "skipped" not in [state for _, state in found]


def test_one_that_is_stopped_leaves_a_partial_report(tmp_path: Path) -> None:
    stories = {"a--thrown": LittleStory("throw new Error('first');"), "b--endless": ENDLESS}
    folder, out = built(tmp_path / "storybook", stories), tmp_path / "out"
    argv = command(folder, out, "--parallel", "1")
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "a--thrown" in line)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    stopped = Ran(process.returncode, said + rest, out)
    assert (stopped.code, stopped.report["complete"]) == (130, False), stopped.said
    assert stopped.story("b--endless")["state"] == "missing"
    assert "partial" in (out / "index.html").read_text()
    assert ran(folder, out, "--story", "a--*").code == 1  # and the folder is still ours


def test_without_a_browser_nothing_is_begun(tmp_path: Path) -> None:
    folder = built(tmp_path / "storybook", STORIES)
    none = ran(folder, tmp_path / "out", "--browser", "/gone")
    assert none.code == 3
    assert "/gone" in none.said
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_watched_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    folder = built(tmp_path / "storybook", STORIES)
    shell = tmp_path / "headless-shell"
    shell.symlink_to("/bin/true")
    refused = ran(folder, tmp_path / "out", "--headed", "--browser", str(shell), PATH="/nowhere",
                  PLAYWRIGHT_BROWSERS_PATH="/nowhere")  # fmt: skip
    assert refused.code == 3
    assert "full Chromium" in refused.said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1440])
async def test_the_page_is_for_everybody(all_of_them: Ran, scheme: Any, width: int) -> None:
    async with async_playwright() as driver:
        path = next(found for name in NAMES if (found := shutil.which(name)))
        browser = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page(
            color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True
        )
        await page.goto((all_of_them.out / "index.html").as_uri())
        assert await faults_of(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await browser.close()


async def test_the_page_is_filtered_searched_and_walked_by_keyboard(all_of_them: Ran) -> None:
    async with async_playwright() as driver:
        path = next(found for name in NAMES if (found := shutil.which(name)))
        browser = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        await page.goto((all_of_them.out / "index.html").as_uri())
        await _use(page)
        assert (said, await page.title()) == ([], f"Captures of {all_of_them.report['storybook']}")
        drawn = "[...document.images].every(each => each.loading === 'lazy' && each.src)"
        assert await page.evaluate(drawn)
        first = page.locator("article:not([hidden]) img").first
        await first.scroll_into_view_if_needed()
        await first.evaluate("image => image.decode()")
        await browser.close()


async def _use(page: Page) -> None:
    shown = page.locator("article:not([hidden])")
    await page.get_by_label("Errored 2").check()
    assert await shown.count() == 2
    await page.get_by_label("All ").check()
    await page.keyboard.press("/")
    await page.keyboard.type("a-button")
    assert await shown.count() == 1
    await page.keyboard.press("Escape")
    assert await shown.count() == len(await page.locator("article").all())
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    focused = await page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == await page.locator("article").first.get_attribute("aria-label")
