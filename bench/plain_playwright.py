"""The peer: what anybody writes first. One browser, one page, one story after the other.

It waits for Storybook to say that the story is rendered and writes a screenshot, nothing else: no
clean page, no frozen clock, no look at errors or fonts, no comparison, no record.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

RENDERED = "() => window.__STORYBOOK_ADDONS_CHANNEL__?.last('storyRendered')"


@dataclass(frozen=True, slots=True)
class PeerRun:
    """From the start of the browser to the last screenshot."""

    stories: int
    wall_s: float

    @property
    def stories_per_s(self) -> float:
        """Return the figure to compare ours with."""
        return self.stories / self.wall_s

    def and_then(self, later: "PeerRun") -> "PeerRun":
        """Return both runs as one."""
        return PeerRun(self.stories + later.stories, self.wall_s + later.wall_s)


def shoot_all(browser: Path, bundle: Path, pictures: Path) -> PeerRun:
    """Shoot every story of a built Storybook into files of the folder `pictures`."""
    stories = stories_of(bundle)
    with served(bundle) as origin:
        began = time.monotonic()
        with sync_playwright() as playwright:
            launched = playwright.chromium.launch(executable_path=browser)
            page = launched.new_page()
            for story in stories:
                _shoot(page, f"{origin}/iframe.html?id={story}&viewMode=story", pictures / story)
            took_s = time.monotonic() - began
            launched.close()
    return PeerRun(len(stories), took_s)


def stories_of(bundle: Path) -> Sequence[str]:
    """Return the ids of the stories in the index; pages of documentation are none."""
    entries = json.loads((bundle / "index.json").read_text())["entries"]
    return [name for name, entry in entries.items() if entry["type"] == "story"]


def _shoot(page: Page, url: str, picture: Path) -> None:
    page.goto(url)
    page.wait_for_function(RENDERED)
    page.screenshot(path=picture.with_name(f"{picture.name}.png"))


@contextmanager
def served(bundle: Path) -> Iterator[str]:
    """Serve the folder from a process of its own, as a web server would be."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    server = subprocess.Popen(
        command,
        cwd=bundle,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None, "it is a pipe"
        port = server.stdout.readline().split(" port ", 1)[1].split()[0]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()
