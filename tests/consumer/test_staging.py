"""A boot that fails or is stopped half-way lets go of what it had begun, and of nothing else."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from consumer.life import LETTING_GO
from consumer.shutdown_gate import ShutdownGate
from consumer.staging import Belongings, live
from tests.fakes import FakeClock

ORDER = ("claims", "children", "row", "pool")
BEGUN = ("pool", "children", "claims", "row")


class Booting:
    """A boot that begins one thing after another, and breaks or waits at one of them."""

    def __init__(self, *, breaks_at: str = "", waits_at: str = "") -> None:
        self.breaks_at = breaks_at
        self.waits_at = waits_at
        self.ended: list[str] = []
        self.cut_off: list[str] = []
        self.clock = FakeClock()
        self.gate = ShutdownGate(self.clock, timedelta(seconds=25))

    async def boot(self, had: Belongings) -> None:
        for name in BEGUN:
            had.note(name, lambda name=name: self.end(name))  # type: ignore[misc]  # bound early
            if name == self.breaks_at:
                raise OSError(name)
            if name == self.waits_at:
                await self.wait(name)

    async def wait(self, name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.cut_off.append(name)

    async def end(self, name: str) -> None:
        self.ended.append(name)

    async def live(self) -> None:
        await live(self.boot, Belongings(ORDER), self.gate, self.clock)


def in_order(names: Sequence[str]) -> list[str]:
    return [name for name in ORDER if name in names]


@pytest.mark.parametrize("at", range(len(BEGUN)))
async def test_a_boot_that_fails_lets_go_of_what_it_had_and_says_why(at: int) -> None:
    booting = Booting(breaks_at=BEGUN[at])
    with pytest.raises(OSError, match=BEGUN[at]):
        await booting.live()
    assert booting.ended == in_order(BEGUN[: at + 1])


@pytest.mark.parametrize("at", range(len(BEGUN)))
async def test_a_stop_while_it_boots_ends_the_boot_where_it_is(at: int) -> None:
    booting = Booting(waits_at=BEGUN[at])
    async with asyncio.TaskGroup() as group:
        group.create_task(booting.live())
        await booting.clock.settle()
        assert booting.ended == []
        booting.gate.ask()
    assert booting.cut_off == [BEGUN[at]]
    assert booting.ended == in_order(BEGUN[: at + 1])


async def test_what_is_begun_stays_until_the_stop_is_asked_for() -> None:
    booting = Booting()
    async with asyncio.TaskGroup() as group:
        group.create_task(booting.live())
        await booting.clock.advance(3600)
        assert booting.ended == []
        booting.gate.ask()
    assert booting.ended == list(ORDER)


async def test_a_boot_that_hangs_in_its_own_end_does_not_hold_up_the_stop() -> None:
    clock, never, ended = FakeClock(), asyncio.Event(), list[str]()
    gate = ShutdownGate(clock, timedelta(seconds=25))

    async def end() -> None:
        ended.append("pool")

    async def boot(had: Belongings) -> None:
        had.note("pool", end)
        try:
            await never.wait()
        finally:
            await never.wait()

    living = asyncio.ensure_future(live(boot, Belongings(ORDER), gate, clock))
    await clock.settle()
    gate.ask()
    await clock.advance(25)
    await living
    assert ended == ["pool"]
    never.set()


async def test_others_hear_that_a_consumer_is_gone_before_what_is_its_own_may_hang() -> None:
    """Its figures wait for a table that is locked; all that others wait for was said by then."""
    clock = FakeClock()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    had, ended = Belongings(LETTING_GO), dict[str, float]()

    async def end(name: str) -> None:
        if name == "figures":
            await asyncio.Event().wait()
        ended[name] = clock.monotonic()

    for name in LETTING_GO:
        had.note(name, lambda name=name: end(name))  # type: ignore[misc]  # bound early
    draining = asyncio.create_task(gate.drain(had.steps()))
    await clock.settle()
    assert ended.keys() == {"claims", "children", "settles", "row", "lead"}
    await clock.advance(25)
    await draining
    assert ended.keys() == set(LETTING_GO) - {"figures"}
