"""Children that die when the test says so, and the lender of them, without a process."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from consumer.comparing import compared
from consumer.death import Cause, ChildDiedError, Death
from consumer.kinds.capture import CaptureHandler
from consumer.kinds.photograph import Photographer
from consumer.lending import Lender
from consumer.messages import (
    Captured,
    Compare,
    Compared,
    CompareOptions,
    Ending,
    StoriesRead,
    StoryWarning,
)
from consumer.supervisor import CaptureRequest
from storyshelf.builds.jobs import parse_capture
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import StoryId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Lease
from storyshelf.queue.job_kind import Work
from tests.builds.hand import CONSUMER, ENVIRONMENT, LEASE, SIZE_PX, Hand, png_of
from tests.fakes import FakeClock
from tests.queue.builders import let_deferred_jobs_be_due

SEGFAULT = Cause(Death.SIGNAL, "signal SIGSEGV")
NEVER_BEGUN = Cause(Death.EXIT, "exit code 3")


@dataclass
class Mortals:
    """A lender whose children all show `look`; `fatal` counts how often a story still kills one.

    `still_births`: how many loans end before anything is rendered; `at_story` is awaited before a
    story is shown.
    """

    look: Mapping[str, str]
    fatal: Counter[str] = field(default_factory=Counter)
    still_births: list[int] = field(default_factory=list)
    at_story: Callable[[StoryId], Awaitable[None]] | None = None
    lent: int = 0
    shown: list[StoryId] = field(default_factory=list)
    cause: Cause = SEGFAULT
    failed: tuple[StoryWarning, ...] = ()  # files of stories that do not load

    @asynccontextmanager
    async def child(self, *_: object) -> AsyncIterator["Mortal"]:
        self.lent += 1
        if self.lent in self.still_births:
            raise ChildDiedError(NEVER_BEGUN, None)
        yield Mortal(self)


@dataclass
class Mortal:
    """A child as the capture handler knows it."""

    mortals: Mortals
    is_usable: bool = True

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        story = wanted.story_id
        if self.mortals.at_story is not None:
            await self.mortals.at_story(story)
        on_stage()
        if self.mortals.fatal[story] > 0:
            self.mortals.fatal[story] -= 1
            raise ChildDiedError(self.mortals.cause, story)
        self.mortals.shown.append(story)
        png = png_of(self.mortals.look[story])
        return Captured(1, story, Ending.OK, None, (), *SIZE_PX, {}, png)

    async def compare(self, options: CompareOptions, base: bytes, head: bytes) -> Compared:
        return compared(Compare(1, options, base, head))

    async def read_stories(self, timeout_ms: int) -> StoriesRead:
        if self.mortals.fatal["bundle"] > 0:
            self.mortals.fatal["bundle"] -= 1
            raise ChildDiedError(self.mortals.cause, None)
        return StoriesRead(1, (), self.mortals.failed)


@dataclass
class FencedWork:
    """What a handler may ask of its attempt, on a lease that was claimed by hand."""

    db: Database
    lease: Lease

    def touch(self) -> None:
        """Nobody keeps this lease."""

    async def record(self, write: Callable[[Tx], Awaitable[None]]) -> None:
        async with self.db.transaction() as tx:
            await queue.renew_for_write(tx, self.lease, LEASE)
            await write(tx)

    async def note(self, write: Callable[[Tx], Awaitable[None]]) -> None:
        async with self.db.transaction() as tx:
            await queue.renew_for_note(tx, self.lease, LEASE)
            await write(tx)


async def attempt(hand: Hand, lease: Lease, mortals: Mortals) -> Any:
    """Run the capture handler once, as a consumer of its own would; return its ending."""
    clock = FakeClock()
    photographer = Photographer(hand.blobs, clock, ENVIRONMENT, timeout_ms=1_000)
    handler = CaptureHandler(hand.db, cast("Lender", mortals), photographer, clock)
    work: Work = FencedWork(hand.db, lease)
    return await handler(work, parse_capture(lease.payload))


async def claimed_when_due(hand: Hand, lane: str) -> Lease:
    """Claim a job that was put off; the first claim only makes it ready."""
    await let_deferred_jobs_be_due(hand.db)
    async with hand.db.transaction() as tx:
        await queue.claim(tx, CONSUMER, {lane: 1}, LEASE)
    return await hand.claim(lane)


def all_look(stories: Sequence[str], shown: str = "red") -> dict[str, str]:
    return {story: f"{shown} {story}" for story in stories}
