"""Whom a child is lent to, when it is replaced, and what closing does to those that are lent."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.browsers import Sandbox
from consumer.isolation import ChildUser, Form, Isolation
from consumer.processes import wait_gone
from consumer.supervisor import (
    Death,
    SupervisorClosedError,
)
from tests.consumer.supervised import (
    ADAS,
    BENS,
    LIMITS,
    OneUidForAll,
    a_capture,
    a_supervisor,
    death_of,
    died_capturing,
    died_starting,
    picture_of,
    until_waiting,
    weak_isolation,
)
from tests.fakes import FakeClock


@pytest.fixture
def isolation(tmp_path: Path) -> Isolation:
    return weak_isolation(tmp_path)


@pytest.fixture
def as_if_strong(isolation: Isolation) -> Isolation:
    return OneUidForAll(isolation.ground, Form.STRONG, ChildUser.PARENT, Sandbox.OFF)


async def test_a_lent_child_is_lent_again_to_the_same_project(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child:
            first = child.pid
        async with supervisor.child(ADAS) as child:
            assert child.pid == first


@pytest.mark.parametrize("form", ["isolation", "as_if_strong"])
async def test_another_project_gets_another_child_and_nothing_of_the_first_is_left(
    request: pytest.FixtureRequest, form: str
) -> None:
    isolation: Isolation = request.getfixturevalue(form)
    async with a_supervisor(isolation, limits=replace(LIMITS, slots=1)) as supervisor:
        async with supervisor.child(ADAS) as child:
            adas_pid, adas_folder = child.pid, child.cell.folder
        async with supervisor.child(BENS) as child:
            assert child.pid != adas_pid
            assert child.cell.folder != adas_folder
        assert wait_gone([adas_pid], 0) == frozenset()
        assert not adas_folder.exists()


async def test_in_the_strong_form_two_projects_have_a_child_each_at_the_same_time(
    as_if_strong: Isolation,
) -> None:
    async with (
        a_supervisor(as_if_strong) as supervisor,
        supervisor.child(ADAS) as adas,
        supervisor.child(BENS) as bens,
    ):
        assert await picture_of(adas, "is-well") == await picture_of(bens, "is-well")
        assert adas.pid != bens.pid


async def test_in_the_weak_form_another_project_waits_and_no_two_children_live_together(
    isolation: Isolation,
) -> None:
    lent = asyncio.Event()

    async def bens() -> frozenset[int]:
        async with supervisor.child(BENS):
            lent.set()
            return wait_gone([adas_pid], 0)

    async with (
        a_supervisor(isolation) as supervisor,
        asyncio.TaskGroup() as group,
        supervisor.child(ADAS) as child,
    ):
        adas_pid = child.pid
        waiting = group.create_task(bens())
        await picture_of(child, "is-well")
        assert not lent.is_set()
    assert waiting.result() == frozenset()


async def test_a_dead_child_is_replaced_by_the_next_loan(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        await death_of(supervisor, "is-killed")
        async with supervisor.child(ADAS) as child:
            assert await picture_of(child, "is-well") == b"picture of is-well"


async def test_a_child_that_died_while_nobody_used_it_is_replaced(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child:
            first = child.pid
        os.kill(first, 9)
        wait_gone([first], 10)
        async with supervisor.child(ADAS) as child:
            assert await picture_of(child, "is-well") == b"picture of is-well"


async def test_a_child_whose_start_was_given_up_is_never_lent(isolation: Isolation) -> None:
    clock, one_seat = FakeClock(), replace(LIMITS, slots=1)
    async with a_supervisor(isolation, clock, one_seat, "never-ready") as supervisor:
        given_up = asyncio.ensure_future(died_starting(supervisor))
        await until_waiting(clock, LIMITS.ready_s)
        given_up.cancel()
        await asyncio.wait({given_up})
        following = asyncio.ensure_future(died_starting(supervisor))
        await until_waiting(clock, LIMITS.ready_s)
        await clock.advance(LIMITS.ready_s)
        assert (await following).how is Death.DEADLINE


async def test_a_child_is_replaced_after_its_number_of_stories(isolation: Isolation) -> None:
    async with a_supervisor(isolation, limits=replace(LIMITS, stories_per_child=2)) as supervisor:
        async with supervisor.child(ADAS) as child:
            first = child.pid
            await picture_of(child, "is-well")
        async with supervisor.child(ADAS) as child:
            assert child.pid == first
            await picture_of(child, "is-well")
        async with supervisor.child(ADAS) as child:
            assert child.pid != first


async def test_a_child_whose_request_was_given_up_is_not_lent_again(isolation: Isolation) -> None:
    begun = asyncio.Event()
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child, asyncio.TaskGroup() as group:
            first = child.pid
            shooting = group.create_task(child.capture(a_capture("stalls"), begun.set))
            await begun.wait()
            shooting.cancel()
        async with supervisor.child(ADAS) as child:
            assert child.pid != first


async def test_closing_tells_the_story_in_flight_that_its_child_was_stopped(
    isolation: Isolation,
) -> None:
    begun = asyncio.Event()
    async with (
        a_supervisor(isolation) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(died_capturing(child, a_capture("stalls"), begun))
        await begun.wait()
        await supervisor.close()
    assert (shooting.result().how, shooting.result().story) == (Death.STOPPED, "stalls")


async def test_closing_does_not_wait_for_a_child_that_is_still_starting(
    isolation: Isolation,
) -> None:
    clock = FakeClock()
    async with (
        a_supervisor(isolation, clock, start="never-ready") as supervisor,
        asyncio.TaskGroup() as group,
    ):
        starting = group.create_task(died_starting(supervisor))
        await until_waiting(clock, seconds=LIMITS.ready_s)
        await supervisor.close()
    assert starting.result().how is Death.STOPPED


async def test_nothing_is_lent_after_closing(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        await supervisor.close()
        with pytest.raises(SupervisorClosedError):
            async with supervisor.child(ADAS):
                raise AssertionError("it must not be given out")
