"""Waiting for what the queue only calls back about."""

import asyncio
from typing import Protocol

from storyshelf.queue.job import Lease, Outcome
from storyshelf.queue.job_runner import JobRunner
from storyshelf.queue.settler import Attempted, Told


class Settles(Protocol):
    def settle(self, attempted: Attempted, told: Told, /) -> None: ...


class ASlot:
    """The slot of an attempt, which remembers whether its handler and itself have ended."""

    def __init__(self) -> None:
        self.is_free = False
        self.ended = asyncio.Event()

    def free(self) -> None:
        assert not self.is_free, "it is freed once"
        self.is_free = True

    def end(self) -> None:
        assert not self.ended.is_set(), "it ends once"
        self.ended.set()


async def ran(runner: JobRunner, lease: Lease, sent_at: float = 0.0) -> None:
    """Make an attempt and return when it is over; if this is cancelled, so is the attempt."""
    slot = ASlot()
    runner.start(lease, sent_at, slot)
    try:
        await slot.ended.wait()
    finally:
        await runner.drop_all()
    assert slot.is_free


async def settled(settler: Settles, attempted: Attempted) -> Outcome | None:
    """Settle an attempt and return what became of its job."""
    told: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
    settler.settle(attempted, told.set_result)
    return await told
