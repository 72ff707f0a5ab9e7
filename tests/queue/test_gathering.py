import asyncio
from collections.abc import Sequence

import pytest

from storyshelf.queue.gathering import Gathering


class Press:
    """Handles batches, each held up until the test lets it go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.started = asyncio.Event()

    async def handle(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        self.started.set()
        await self.gate.wait()
        return [10 * item for item in items]


async def test_what_comes_while_a_batch_is_under_way_goes_into_the_next() -> None:
    press = Press()
    gathering = Gathering(press.handle)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(gathering.add(1))
        await press.started.wait()
        others = [group.create_task(gathering.add(item)) for item in (2, 3, 4)]
        press.gate.set()
    assert press.batches == [[1], [2, 3, 4]]
    assert [first.result(), *(task.result() for task in others)] == [10, 20, 30, 40]


async def test_each_caller_is_handed_the_failure_of_its_batch() -> None:
    async def refuse(items: Sequence[int]) -> list[int]:
        raise LookupError

    with pytest.raises(LookupError):
        await Gathering(refuse).add(1)


async def test_the_rest_of_a_batch_is_taken_up_when_its_caller_is_cancelled() -> None:
    press = Press()
    gathering = Gathering(press.handle)
    first = asyncio.create_task(gathering.add(1))
    await press.started.wait()
    second = asyncio.create_task(gathering.add(2))
    third = asyncio.create_task(gathering.add(3))
    press.started.clear()
    first.cancel()
    await press.started.wait()
    press.started.clear()
    second.cancel()  # the one that handed on [2, 3]
    await press.started.wait()
    press.gate.set()
    assert await third == 30
    assert press.batches == [[1], [2, 3], [3]]
