import pytest

from consumer.kinds.stopwatch import Stopwatch
from tests.fakes import FakeClock


async def test_a_step_that_is_taken_twice_counts_twice() -> None:
    clock = FakeClock()
    watch = Stopwatch(clock)
    for seconds in (0.25, 0.5):
        with watch.step("compare"):
            await clock.advance(seconds)
    assert watch.taken_ms == {"compare": 750.0}


async def test_a_step_counts_however_it_ends() -> None:
    clock = FakeClock()
    watch = Stopwatch(clock)

    async def fill_the_disk() -> None:
        with watch.step("store"):
            await clock.advance(2)
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        await fill_the_disk()
    assert watch.taken_ms == {"store": 2000.0}


def test_steps_stand_in_the_order_they_came_in() -> None:
    watch = Stopwatch(FakeClock())
    watch.add("first_picture", 0.1)
    watch.add("compare", 0.2)
    watch.add("first_picture", 0.1)
    assert list(watch.taken_ms.items()) == [("first_picture", 200.0), ("compare", 200.0)]
