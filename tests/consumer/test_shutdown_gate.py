"""Stopping: one drains, the rest wait, and no step can hold up the end."""

import asyncio
from datetime import timedelta

from consumer.shutdown_gate import Ending, ShutdownGate, Step
from tests.fakes import FakeClock


class Recorder:
    """Steps that note when they were taken."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.cancelled: list[str] = []

    def step(self, name: str) -> Step:
        async def run() -> None:
            self.taken.append(name)

        return Step(name, run)

    def blocked(self, name: str, until: asyncio.Event) -> Step:
        async def run() -> None:
            self.taken.append(name)
            try:
                await until.wait()
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise

        return Step(name, run)

    def broken(self, name: str) -> Step:
        async def run() -> None:
            self.taken.append(name)
            raise OSError("the disk is gone")

        return Step(name, run)


async def test_the_steps_are_taken_in_order() -> None:
    seen = Recorder()
    endings = await ShutdownGate(FakeClock()).drain([seen.step("claims"), seen.step("pools")])
    assert seen.taken == ["claims", "pools"]
    assert endings == (Ending.DONE, Ending.DONE)


async def test_whoever_comes_later_waits_until_the_first_has_drained() -> None:
    gate, seen, release = ShutdownGate(FakeClock()), Recorder(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(gate.drain([seen.blocked("first", release)]))
        later = group.create_task(gate.drain([seen.step("second")]))
        await FakeClock().settle()
        assert not later.done()
        release.set()
    assert later.result() == ()
    assert seen.taken == ["first"]


async def test_asking_again_does_not_move_the_deadline() -> None:
    clock = FakeClock()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    gate.ask()
    await clock.advance(10)
    gate.ask()
    assert gate.remaining_s() == 15
    assert gate.asked.is_set()


async def test_before_anyone_asks_the_whole_grace_is_left() -> None:
    clock = FakeClock()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    await clock.advance(100)
    assert gate.remaining_s() == 25
    assert not gate.asked.is_set()


async def test_nothing_is_left_after_the_deadline() -> None:
    clock = FakeClock()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    gate.ask()
    await clock.advance(40)
    assert gate.remaining_s() == 0


async def test_a_step_that_fails_does_not_keep_the_next_from_being_taken() -> None:
    seen = Recorder()
    endings = await ShutdownGate(FakeClock()).drain([seen.broken("release"), seen.step("pools")])
    assert seen.taken == ["release", "pools"]
    assert endings == (Ending.FAILED, Ending.DONE)


async def test_a_step_that_hangs_is_cut_at_the_deadline_and_the_next_is_taken() -> None:
    clock, seen = FakeClock(), Recorder()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    async with asyncio.TaskGroup() as group:
        steps = [seen.blocked("children", asyncio.Event()), seen.step("pools")]
        draining = group.create_task(gate.drain(steps))
        await clock.advance(25)
    assert draining.result() == (Ending.OVERRAN, Ending.DONE)
    assert seen.cancelled == ["children"]


async def test_a_step_after_the_deadline_still_gets_a_moment() -> None:
    clock, seen = FakeClock(), Recorder()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    gate.ask()
    await clock.advance(60)
    assert await gate.drain([seen.step("pools")]) == (Ending.DONE,)


async def test_a_drain_that_is_cancelled_lets_the_waiting_go() -> None:
    gate, seen = ShutdownGate(FakeClock()), Recorder()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(gate.drain([seen.blocked("first", asyncio.Event())]))
        later = group.create_task(gate.drain([]))
        await FakeClock().settle()
        first.cancel()
    assert later.result() == ()


async def test_a_step_that_hangs_even_in_its_own_end_holds_up_nothing() -> None:
    clock, seen, never = FakeClock(), Recorder(), asyncio.Event()

    async def hang() -> None:
        try:
            await never.wait()
        finally:
            await never.wait()  # as a rollback does on a database that does not answer

    gate = ShutdownGate(clock, timedelta(seconds=25))
    draining = asyncio.ensure_future(gate.drain([Step("row", hang), seen.step("pools")]))
    await clock.advance(25)
    assert await draining == (Ending.OVERRAN, Ending.DONE)
    never.set()


async def test_each_step_to_come_is_kept_its_moment_of_the_grace() -> None:
    clock, seen = FakeClock(), Recorder()
    gate = ShutdownGate(clock, timedelta(seconds=25))
    hanging = [seen.blocked(name, asyncio.Event()) for name in ("claims", "children", "row")]
    draining = asyncio.ensure_future(gate.drain(hanging))
    await clock.advance(25)
    assert await draining == (Ending.OVERRAN,) * 3


async def test_who_waits_for_the_asking_is_told_once() -> None:
    told: list[str] = []
    gate = ShutdownGate(FakeClock(), on_asked=lambda: told.append("asked"))
    gate.ask()
    gate.ask()
    await gate.drain([])
    assert told == ["asked"]
