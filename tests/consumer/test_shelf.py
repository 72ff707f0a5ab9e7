"""A picture waits for room in the storage, and is not captured again for want of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from consumer.kinds.shelf import GIVE_UP_AFTER_S, TOUCH_EVERY_S, WAIT_CEILING_S, Shelf
from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey, ConsumerId
from storyshelf.operations import alarm_store
from storyshelf.operations.alarm_words import words_on
from storyshelf.operations.full_storage import ALARM, alarm_full, lower_full
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds, Work
from storyshelf.storage.blobs import FullStorageError, key_of
from tests.fakes import FakeClock, MemoryBlobs
from tests.queue.builders import a_job
from tests.queue.kinds import Told, a_kind
from tests.queue.memory_ground import MemoryGround, MemoryQueue

PICTURE = b"a picture"


class FullBlobs(MemoryBlobs):
    """A disk without room until the test makes some."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = True
        self.tries = 0

    async def put(self, content: bytes) -> BlobKey:
        self.tries += 1
        if self.is_full:
            raise FullStorageError
        return await super().put(content)


class Putting:
    """One picture on its way, and what is said of it."""

    def __init__(self) -> None:
        self.clock, self.blobs = FakeClock(), FullBlobs()
        self.told: list[str] = []
        self.touched_at: list[float] = []
        self.shelf = Shelf(self.blobs, self.clock, self.telling("full"), self.telling("room"))
        self.task = asyncio.create_task(self.shelf.put(PICTURE, self.touch))

    def telling(self, what: str) -> Callable[[], "asyncio.Future[None]"]:
        async def tell() -> None:
            self.told.append(what)

        return lambda: asyncio.ensure_future(tell())

    def touch(self) -> None:
        self.touched_at.append(self.clock.monotonic())


async def test_a_picture_waits_until_there_is_room_and_both_are_told() -> None:
    putting = Putting()
    await putting.clock.advance(30 * 60)
    assert not putting.task.done()
    putting.blobs.is_full = False
    await putting.clock.advance(WAIT_CEILING_S)
    assert await putting.task == key_of(PICTURE)
    assert putting.told == ["full"] * (putting.blobs.tries - 1) + ["room"]


@asynccontextmanager
async def waiting_in_a_job(queue: MemoryQueue, clock: FakeClock) -> AsyncIterator[ConsumerSide]:
    """A consumer whose one job waits for room."""
    who = ConsumerId("ann:1:a")

    async def put(work: Work, parsed: Any) -> None:
        await Shelf(FullBlobs(), clock).put(PICTURE, work.touch)

    options = ConsumerOptions(who, {"capture@x": 1}, clock, lambda: 0.0)
    side = ConsumerSide(MemoryGround(queue, who), JobKinds([a_kind(Told(), put)]), options)
    life = asyncio.create_task(side.run_forever())
    await clock.settle()
    yield side
    life.cancel()
    await asyncio.wait({life})


async def test_a_job_that_waits_is_held_and_can_be_cancelled_at_once() -> None:
    clock = FakeClock()
    queue = MemoryQueue(clock)
    (job_id,) = queue.enqueue(a_job())
    async with waiting_in_a_job(queue, clock):
        await clock.advance(30 * 60)
        assert (queue.jobs[job_id].attempt, queue.attempts) == (1, [])
        queue.cancel(job_id)
        queue.hint("cancel")
        await clock.advance(0.25)
    assert queue.done == {job_id: Outcome.CANCELLED}


async def test_a_job_that_waits_is_given_back_uncharged_when_its_consumer_stops() -> None:
    clock = FakeClock()
    queue = MemoryQueue(clock)
    (job_id,) = queue.enqueue(a_job())
    async with waiting_in_a_job(queue, clock) as side:
        await clock.advance(10 * 60)
        stopping = asyncio.create_task(side.stop(5))
        await clock.advance(5)
        assert stopping.done()
    assert (queue.jobs[job_id].state, queue.jobs[job_id].charged) == ("queued", 0)


async def test_that_there_is_room_is_told_once_by_a_process_that_has_just_begun() -> None:
    putting = Putting()
    putting.blobs.is_full = False
    await putting.task
    await putting.shelf.put(b"another", putting.touch)
    assert putting.told == ["room"]


async def test_the_lease_is_kept_meanwhile_and_the_disk_is_not_asked_all_the_time() -> None:
    putting = Putting()
    await putting.clock.advance(600)
    gaps = [
        later - earlier
        for earlier, later in zip(putting.touched_at, putting.touched_at[1:], strict=False)
    ]
    assert max(gaps) <= TOUCH_EVERY_S
    assert 12 <= putting.blobs.tries <= 17
    putting.task.cancel()


async def test_after_an_hour_the_attempt_fails_with_what_to_do() -> None:
    putting = Putting()
    await putting.clock.advance(GIVE_UP_AFTER_S + WAIT_CEILING_S)
    with pytest.raises(FullStorageError, match="Free disk space"):
        await putting.task


async def test_an_alarm_that_cannot_be_raised_keeps_no_picture() -> None:
    async def fail() -> None:
        raise ConnectionRefusedError

    clock, blobs = FakeClock(), FullBlobs()
    task = asyncio.create_task(Shelf(blobs, clock, fail, fail).put(PICTURE, lambda: None))
    await clock.advance(1)
    blobs.is_full = False
    await clock.advance(5)
    assert await task == key_of(PICTURE)


async def test_the_alarm_names_the_disk_and_goes_when_there_is_room(
    db: Database, tmp_path: Path
) -> None:
    for _ in range(2):
        await alarm_full(db, "a-host", tmp_path)
    async with db.transaction() as tx:
        (alarm,) = await alarm_store.alarms(tx)
    assert (alarm.name, alarm.count) == (ALARM, 2)
    assert alarm.detail == {"host": "a-host", "folder": str(tmp_path)}
    assert "disk" in words_on(alarm.name).advice
    await lower_full(db)
    async with db.transaction() as tx:
        assert await alarm_store.alarms(tx) == ()
