"""One page through a real child: the shortest proof that this machine can capture."""

import asyncio
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from consumer.isolation import Isolation
from consumer.messages import BundledFile, Captured, Ending, Page
from consumer.supervisor import Bundle, CaptureRequest, Child, Limits, Supervisor
from storyshelf.clock import Clock
from storyshelf.errors import StoryshelfError
from storyshelf.ids import BlobKey, ProjectId, StoryId

NOBODYS = ProjectId(0)  # no project has this id, so the child serves no other afterwards
STORY = StoryId("trial--page")
TIMEOUT_MS = 30_000
# As much of a Storybook preview as a capture waits for.
PREVIEW = b"""<!doctype html><meta charset="utf-8"><body class="sb-show-main">
<div id="storybook-root"><p style="width: 64px; height: 32px; background: #36c">trial</p></div>
<script>
const listeners = {};
window.__STORYBOOK_ADDONS_CHANNEL__ = {
  on: (name, listener) => (listeners[name] ??= []).push(listener),
};
const id = new URLSearchParams(location.search).get("id");
for (const listener of listeners.storyRendered ?? []) listener(id);
</script>
"""


class TrialFailedError(StoryshelfError):
    """The child works, but its picture of the simplest page is not one."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"a page of the simplest kind could not be captured: {why}",
            next_step="Start the browser by hand and look at its messages, or use another one.",
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """What it took, and what the child says its pictures are made with."""

    facts: dict[str, str]
    took_ms: int
    width_px: int
    height_px: int


async def try_child(isolation: Isolation, clock: Clock) -> Trial:
    """Start a child, capture one page and stop it; raises StoryshelfError if anything fails."""
    began = clock.monotonic()
    async with asyncio.TaskGroup() as group:
        supervisor = Supervisor(group, clock, isolation, Limits(slots=1))
        try:
            outcome = await _attempt(supervisor)
        finally:
            await supervisor.close()
    if isinstance(outcome, StoryshelfError):
        raise outcome  # out here, where the group does not wrap it
    facts, captured = outcome
    _require_picture(captured)
    took_ms = round((clock.monotonic() - began) * 1000)
    return Trial(facts, took_ms, captured.width_px, captured.height_px)


async def _attempt(supervisor: Supervisor) -> tuple[dict[str, str], Captured] | StoryshelfError:
    asked = CaptureRequest(STORY, 640, 360, 1.0, 0, Page.FRESH, TIMEOUT_MS)
    try:
        async with supervisor.child(NOBODYS) as child:
            await child.open(_lay(child))
            return child.facts, await child.capture(asked, lambda: None)
    except StoryshelfError as error:
        return error


def _lay(child: Child) -> Bundle:
    key = BlobKey(sha256(PREVIEW).hexdigest())
    laid: Path = child.cell.bundle / key
    laid.write_bytes(PREVIEW)
    laid.chmod(0o644)
    return Bundle("b0.localhost", child.cell.bundle, (BundledFile("iframe.html", key),))


def _require_picture(captured: Captured) -> None:
    if captured.error is not None:
        raise TrialFailedError(captured.error.message)
    if captured.ending is not Ending.OK or not captured.png:
        raise TrialFailedError("there is no picture")
