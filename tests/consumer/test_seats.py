"""Who may have a child next."""

import asyncio

import pytest

from consumer.isolation import Form
from consumer.seats import Seat, Seats, SupervisorClosedError
from storyshelf.ids import ProjectId
from tests.fakes import FakeClock

ADAS, BENS, CLEOS = ProjectId(1), ProjectId(2), ProjectId(3)


async def settle() -> None:
    await FakeClock().settle()


async def test_a_seat_that_serves_the_project_is_preferred_to_an_empty_one() -> None:
    seats = Seats(3, Form.STRONG)
    seats.all[0].served, seats.all[2].served = BENS, ADAS
    assert (await seats.take(ADAS)).number == 2


async def test_an_empty_seat_is_preferred_to_one_that_must_be_cleared() -> None:
    seats = Seats(2, Form.STRONG)
    seats.all[0].served = BENS
    assert (await seats.take(ADAS)).number == 1


async def test_two_projects_sit_together_in_the_strong_form() -> None:
    seats = Seats(2, Form.STRONG)
    assert {(await seats.take(ADAS)).number, (await seats.take(BENS)).number} == {0, 1}


async def test_two_jobs_of_one_project_sit_together_in_the_weak_form() -> None:
    seats = Seats(2, Form.WEAK)
    assert {(await seats.take(ADAS)).number, (await seats.take(ADAS)).number} == {0, 1}


async def test_a_second_project_waits_in_the_weak_form_though_a_seat_is_free() -> None:
    seats = Seats(2, Form.WEAK)
    adas = await seats.take(ADAS)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(seats.take(BENS))
        await settle()
        assert not waiting.done()
        seats.leave(adas)
    assert waiting.result().held_by == BENS


async def test_who_waits_is_not_overtaken_by_who_could_sit_down_at_once() -> None:
    seats, order = Seats(2, Form.WEAK), []

    async def sit(project_id: ProjectId) -> None:
        seat = await seats.take(project_id)
        order.append(project_id)
        seats.leave(seat)

    adas = await seats.take(ADAS)
    async with asyncio.TaskGroup() as group:
        for project_id in (BENS, ADAS, CLEOS):
            group.create_task(sit(project_id))
        await settle()
        assert order == []
        seats.leave(adas)
    assert order == [BENS, ADAS, CLEOS]


async def test_who_stops_waiting_does_not_hold_up_the_next() -> None:
    seats = Seats(1, Form.STRONG)
    adas = await seats.take(ADAS)
    async with asyncio.TaskGroup() as group:
        impatient = group.create_task(seats.take(BENS))
        patient = group.create_task(seats.take(CLEOS))
        await settle()
        seats.leave(adas)
        impatient.cancel()
    assert patient.result().held_by == CLEOS


async def test_closing_sends_away_who_waits_and_who_comes() -> None:
    seats = Seats(1, Form.STRONG)
    await seats.take(ADAS)
    waiting = [asyncio.ensure_future(seats.take(each)) for each in (BENS, CLEOS)]
    await settle()
    seats.close()
    for each in waiting:
        with pytest.raises(SupervisorClosedError):
            await each
    with pytest.raises(SupervisorClosedError):
        await seats.take(ADAS)


def test_seats_are_told_apart_by_who_they_are() -> None:
    assert Seat(0) != Seat(0)
