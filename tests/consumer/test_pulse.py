"""A child whose loop has stopped is found, whatever it was doing, and replaced."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from consumer.browsers import Sandbox
from consumer.cell import Cell
from consumer.channel import Channel, child_end, parent_end
from consumer.isolation import ChildUser, Form, Isolation
from consumer.messages import Alive, FromChild, ToChild
from consumer.processes import is_dead
from consumer.pulse import BEAT_EVERY_S, BEATS_BEFOREHAND, Pulse, beating
from consumer.supervisor import Cause, ChildDiedError, Death, Limits
from tests.consumer.supervised import (
    ADAS,
    a_capture,
    a_supervisor,
    died_capturing,
    died_starting,
    picture_of,
    until_waiting,
    weak_isolation,
)
from tests.fakes import FakeClock
from tests.queue.builders import until

LIMITS = Limits(slots=1)
LONG_S = 30.0  # more than it takes, less than any other deadline


@pytest.fixture
def isolation(tmp_path: Path) -> Isolation:
    return weak_isolation(tmp_path)


def looks(pulse: Pulse, times: int) -> list[bool]:
    return [pulse.is_gone() for _ in range(times)]


def test_a_pulse_is_gone_after_four_silent_looks() -> None:
    pulse = Pulse(4, began_at=0.0)
    assert looks(pulse, 5) == [False, False, False, False, True]


def test_a_word_in_time_begins_the_silence_anew() -> None:
    pulse = Pulse(4, began_at=0.0)
    looks(pulse, 4)
    pulse.hear()
    assert looks(pulse, 5) == [False, False, False, False, True]


def test_a_heartbeat_a_second_is_none_too_many_and_more_is_a_flood() -> None:
    pulse = Pulse(4, began_at=100.0)
    assert not any(pulse.is_flooded(now=110.0) for _ in range(BEATS_BEFOREHAND + 10))
    assert pulse.is_flooded(now=110.0)


async def test_the_heart_beats_at_once_and_every_few_seconds_until_the_block_ends() -> None:
    clock, (ours, theirs) = FakeClock(), socket.socketpair()
    parent, child = await parent_end(ours), await child_end(theirs)
    async with beating(child, clock):
        assert await parent.read(5) == Alive()
        for _ in range(3):
            await clock.advance(BEAT_EVERY_S)
            assert await parent.read(5) == Alive()
    assert clock.sleeping == 0
    await both_closed(parent, child)


async def test_a_heart_whose_parent_is_gone_ends_without_a_word() -> None:
    clock, (ours, theirs) = FakeClock(), socket.socketpair()
    parent, child = await parent_end(ours), await child_end(theirs)
    await parent.close()
    async with beating(child, clock):
        await clock.advance(BEAT_EVERY_S)
    assert clock.sleeping == 0
    await child.close()


async def test_a_child_that_is_silent_while_it_starts_is_killed(isolation: Isolation) -> None:
    clock = FakeClock()
    async with (
        a_supervisor(isolation, clock, LIMITS, "never-ready") as supervisor,
        asyncio.TaskGroup() as group,
    ):
        starting = group.create_task(died_starting(supervisor))
        await until_waiting(clock, seconds=LIMITS.ready_s)
        await clock.advance(LONG_S)
    assert (starting.result().how, starting.result().story) == (Death.HUNG, None)
    assert starting.result().detail == "no sign of life in 20 s"


async def test_a_child_that_is_silent_while_it_is_lent_but_idle_is_killed(
    isolation: Isolation,
) -> None:
    clock = FakeClock()
    async with a_supervisor(isolation, clock, LIMITS) as supervisor:
        async with supervisor.child(ADAS) as child:
            await clock.advance(LONG_S)
            with pytest.raises(ChildDiedError) as died:
                await picture_of(child, "is-well")
        assert (died.value.how, died.value.story) == (Death.HUNG, None)
        async with supervisor.child(ADAS) as another:
            assert another.pid != child.pid


async def test_a_child_that_is_silent_while_nobody_has_it_is_killed_and_cleared_away(
    isolation: Isolation,
) -> None:
    clock = FakeClock()
    async with a_supervisor(isolation, clock, LIMITS) as supervisor:
        async with supervisor.child(ADAS) as child:
            await picture_of(child, "is-well")
        await clock.advance(LONG_S)
        await until(lambda: not child.cell.folder.exists())
        assert is_dead(child.pid)


class Uncleared(Isolation):
    """Furnishes cells that cannot be cleared: no process can be started on the machine, say."""

    @asynccontextmanager
    async def cell(self) -> AsyncIterator[Cell]:
        async with super().cell() as cell:
            yield cell
        raise OSError("no more processes")


async def test_a_cell_that_cannot_be_cleared_leaves_the_consumer_alive(
    isolation: Isolation,
) -> None:
    uncleared = Uncleared(isolation.ground, Form.WEAK, ChildUser.PARENT, Sandbox.OFF)
    clock = FakeClock()
    async with a_supervisor(uncleared, clock, LIMITS) as supervisor:
        async with supervisor.child(ADAS) as child:
            await picture_of(child, "is-well")
        await clock.advance(LONG_S)
        await until(lambda: not child.cell.folder.exists())
        await clock.settle()
        with pytest.raises(OSError, match="no more processes"):
            async with supervisor.child(ADAS) as another:
                another.condemn(Cause(Death.STOPPED, "enough"))


async def test_a_child_stopped_by_a_signal_in_mid_story_is_killed(isolation: Isolation) -> None:
    clock, begun = FakeClock(), asyncio.Event()
    async with (
        a_supervisor(isolation, clock, LIMITS) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(died_capturing(child, a_capture("is-stopped"), begun))
        await begun.wait()
        await clock.advance(LONG_S)
    assert (shooting.result().how, shooting.result().story) == (Death.HUNG, "is-stopped")
    assert is_dead(child.pid)


async def both_closed(*ends: Channel[FromChild, ToChild] | Channel[ToChild, FromChild]) -> None:
    for end in ends:
        await end.close()
