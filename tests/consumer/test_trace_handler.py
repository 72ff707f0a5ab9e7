"""What the handler of trace jobs makes of what a child does."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from consumer.death import Cause, ChildDiedError, Death
from consumer.kinds.shelf import Shelf
from consumer.kinds.trace import TraceHandler
from consumer.lending import Lender
from consumer.messages import Captured, Ending, ErrorCode, Page, StoryError
from consumer.supervisor import CaptureRequest
from consumer.trace_file import rewritten
from storyshelf.db.engine import Database
from storyshelf.queue.job import Lease
from storyshelf.storage.local import LocalBlobs
from storyshelf.traces.kinds import parse_trace
from storyshelf.traces.trace import Recorded, Unrecorded
from tests.builds.facts import run
from tests.builds.hand import Hand, a_hand
from tests.consumer.mortal import FencedWork
from tests.fakes import FakeClock
from tests.traces.recordings import a_zip, wished

KILLED = Cause(Death.OUT_OF_MEMORY, "2100 MiB in use")


@dataclass
class Recorder:
    """A lender of itself: the child that sends this, or dies."""

    trace: bytes = b""
    untraced: str = ""
    dies: Cause | None = None
    asked: list[CaptureRequest] = field(default_factory=list)

    @asynccontextmanager
    async def child(self, *_: object) -> AsyncIterator["Recorder"]:
        yield self

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        self.asked.append(wanted)
        on_stage()
        if self.dies is not None:
            raise ChildDiedError(self.dies, wanted.story_id)
        error = StoryError(ErrorCode.PLAY_FAILED, "no", "")
        return Captured(
            1, wanted.story_id, Ending.ERRORED, error, (), 0, 0, {},
            trace=self.trace, untraced=self.untraced,
        )  # fmt: skip


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


@pytest.fixture
async def lease(hand: Hand) -> Lease:
    return await wished(hand, await hand.run({"a--one": "!"}), "a--one")


async def result_of(hand: Hand, lease: Lease, child: Recorder) -> Recorded | Unrecorded | None:
    shelf = Shelf(hand.blobs, FakeClock())
    handler = TraceHandler(hand.db, cast("Lender", child), shelf, 1_000)
    return await handler(FencedWork(hand.db, lease), parse_trace(lease.payload))


async def test_what_is_stored_is_a_zip_of_ours(hand: Hand, lease: Lease) -> None:
    child = Recorder(a_zip(b"steps"))
    result = await result_of(hand, lease, child)
    assert isinstance(result, Recorded)
    assert await hand.blobs.read(result.key) == rewritten(a_zip(b"steps"))
    assert result.note == "The story ended with the error play_failed."
    assert [each.page for each in child.asked] == [Page.TRACED]


@pytest.mark.parametrize(
    ("child", "why"),
    [
        (Recorder(dies=KILLED), "2100 MiB in use"),
        (Recorder(b"no zip"), "There is no trace: it does not end as a trace does"),
        (Recorder(untraced="it has 40 MiB"), "There is no trace: it has 40 MiB"),
    ],
)
async def test_what_another_try_would_not_mend_is_told(
    hand: Hand, lease: Lease, child: Recorder, why: str
) -> None:
    result = await result_of(hand, lease, child)
    assert isinstance(result, Unrecorded)
    assert why in result.why


async def test_a_stopped_consumer_leaves_it_to_the_next(hand: Hand, lease: Lease) -> None:
    with pytest.raises(ChildDiedError):
        await result_of(hand, lease, Recorder(dies=Cause(Death.STOPPED, "stopped")))


async def test_of_a_snapshot_that_is_gone_nothing_is_recorded(hand: Hand, lease: Lease) -> None:
    await run(hand, "DELETE FROM snapshots")
    assert await result_of(hand, lease, Recorder()) is None
