import asyncio
from collections.abc import Sequence

from structlog.testing import capture_logs

from storyshelf.queue.gathering import Gathering


class Press:
    """Handles batches, each held up until the test lets it go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.started = asyncio.Event()
        self.gathering = Gathering(self.hand_on)

    async def hand_on(self, items: Sequence[int]) -> None:
        self.batches.append(list(items))
        self.started.set()
        await self.gate.wait()

    async def finish(self) -> None:
        self.gate.set()
        if (task := self.gathering.task) is not None:
            await task


async def test_what_comes_while_a_batch_is_under_way_goes_into_the_next() -> None:
    press = Press()
    press.gathering.add(1)
    await press.started.wait()
    for item in (2, 3, 4):
        press.gathering.add(item)
    await press.finish()
    assert press.batches == [[1], [2, 3, 4]]


async def test_what_comes_in_one_turn_of_the_loop_goes_together() -> None:
    press = Press()
    for item in (1, 2, 3):
        press.gathering.add(item)
    await press.finish()
    assert press.batches == [[1, 2, 3]]


async def test_whoever_comes_after_the_last_batch_is_served() -> None:
    press = Press()
    press.gathering.add(1)
    await press.finish()
    assert press.gathering.task is None
    press.gathering.add(2)
    await press.finish()
    assert press.batches == [[1], [2]]


async def test_what_was_cancelled_takes_nobody_along_who_comes_later() -> None:
    press = Press()
    press.gathering.add(1)
    await press.started.wait()
    task = press.gathering.task
    assert task is not None
    task.cancel()
    await asyncio.wait({task})
    press.gathering.add(2)
    await press.finish()
    assert press.batches == [[1], [2]]


async def test_a_batch_that_fails_is_told_and_keeps_nobody_behind_it() -> None:
    handed: list[int] = []

    async def hand_on(items: Sequence[int]) -> None:
        handed.extend(items)
        if 1 in items:
            gathering.add(2)
            raise ValueError("of the first batch")

    gathering = Gathering(hand_on)
    with capture_logs() as lines:
        gathering.add(1)
        assert gathering.task is not None
        await gathering.task
    assert handed == [1, 2]
    assert [line["event"] for line in lines] == ["gathering.batch_failed"]
