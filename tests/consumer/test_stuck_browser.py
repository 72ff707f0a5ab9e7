"""A browser or a driver that stops to answer, at each stage: the story ends, and the next works."""

import os
import signal
from dataclasses import replace

import pytest

from consumer import processes
from consumer.messages import ErrorCode, Stage
from tests.consumer.conftest import Opener
from tests.consumer.little_storybook import LittleStory, LittleStorybook, html

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),  # each of the four means against a stuck page is given its time
]

SLOW = LittleStory("root.textContent = 'slow'; await new Promise((go) => setTimeout(go, 300));")
STORYBOOK = LittleStorybook({"slow--story": SLOW, "well--story": html("<b>well</b>")})
AT = [Stage.OPENING, Stage.RENDERING, Stage.SETTLING, Stage.SHOOTING]
QUICK = {(Stage.RENDERING, b"node"), (Stage.SHOOTING, b"headless")}
ENDINGS = {ErrorCode.PAGE_UNRESPONSIVE, ErrorCode.RENDER_TIMEOUT}


def named(name: bytes) -> frozenset[int]:
    """What this test's process started under that name, zygotes and renderers too."""
    below = processes.descendants(os.getpid())
    return frozenset(
        pid
        for pid in below
        if name in (processes.PROC / str(pid) / "cmdline").read_bytes().partition(b"\0")[0]
    )


@pytest.mark.parametrize(
    ("stage", "name"),
    [
        pytest.param(
            stage,
            name,
            id=f"{stage}-{name.decode()}",
            marks=[] if (stage, name) in QUICK else pytest.mark.long,
        )
        for stage in AT
        for name in (b"node", b"headless")
    ],
)
async def test_what_is_stuck_is_given_up_in_time_and_replaced(
    opened: Opener, stage: Stage, name: bytes
) -> None:
    stage_set = await opened(STORYBOOK)
    alone = await stage_set.shoot("well--story")
    stuck = named(name)
    assert stuck

    async def freeze(reached: Stage) -> None:
        if reached is stage:
            for pid in stuck:
                os.kill(pid, signal.SIGSTOP)

    bad = await replace(stage_set, at_stage=freeze).shoot("slow--story", timeout_ms=4_000)
    assert bad.error is not None
    assert bad.error.code in ENDINGS
    good = await stage_set.shoot("well--story")
    assert (good.error, good.png) == (None, alone.png)
    assert processes.wait_gone(stuck, 5.0) == frozenset()
