"""The life of leaders by a manual clock: one leads, the others follow, and none for too long."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from storyshelf.operations.leader import (
    FOLLOW_EVERY_S,
    LEASE_FOR,
    MARGIN_S,
    RENEW_EVERY_S,
    Leader,
)
from tests.fakes import FakeClock
from tests.operations.leads import MemoryLease, Row

TRUST_S = LEASE_FOR.total_seconds() - MARGIN_S


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def row(clock: FakeClock) -> Row:
    return Row(clock)


def a_leader(row: Row, holder: str = "ann") -> Leader:
    return Leader(MemoryLease(row, holder), row.clock, lambda: 0.0)


def term_of(leader: Leader) -> int | None:
    return leader.term


@asynccontextmanager
async def running(*leaders: Leader) -> AsyncIterator[list["asyncio.Task[None]"]]:
    tasks = [asyncio.create_task(leader.run_forever()) for leader in leaders]
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_it_tries_a_second_after_the_boot_and_leads(row: Row, clock: FakeClock) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(0.9)
        assert (leader.term, row.asked_at) == (None, [])
        await clock.advance(0.1)
        assert (leader.term, row.asked_at) == (1, [1.0])


async def test_it_renews_every_fifteen_seconds_and_stays_in_its_term(
    row: Row, clock: FakeClock
) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1 + 10 * RENEW_EVERY_S)
        assert term_of(leader) == 1
    assert row.asked_at[:11] == [1 + RENEW_EVERY_S * number for number in range(11)]


async def test_a_follower_asks_once_a_minute(row: Row, clock: FakeClock) -> None:
    row.holder, row.term, row.expires_at = "bob", 3, 1e9
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1 + 3 * FOLLOW_EVERY_S)
        assert not leader.is_leading
        assert row.asked_at == [1 + FOLLOW_EVERY_S * number for number in range(4)]


async def test_with_the_database_away_it_stops_before_its_lease_can_be_given_away(
    row: Row, clock: FakeClock
) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1)
        row.failure = OSError("the line is cut")
        await clock.advance(TRUST_S - 0.1)
        assert term_of(leader) == 1
        await clock.advance(0.1)
        assert term_of(leader) is None
        assert clock.monotonic() < row.expires_at


async def test_a_database_that_says_nothing_at_all_costs_the_lead_all_the_same(
    row: Row, clock: FakeClock
) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1)
        row.answers.clear()
        await clock.advance(TRUST_S)
        assert term_of(leader) is None
        row.answers.set()
        await clock.advance(RENEW_EVERY_S)
        assert term_of(leader) == 1


async def test_the_same_term_goes_on_when_nobody_took_it_meanwhile(
    row: Row, clock: FakeClock
) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1)
        row.failure = OSError("the line is cut")
        await clock.advance(300)
        row.failure = None
        await clock.advance(10)
        assert term_of(leader) == 1


async def test_an_outage_is_told_once_and_the_next_one_again(row: Row, clock: FakeClock) -> None:
    async with running(a_leader(row)):
        await clock.advance(1)
        with capture_logs() as told:
            for _ in range(2):
                row.failure = OSError("the line is cut")
                await clock.advance(120)
                row.failure = None
                await clock.advance(RENEW_EVERY_S)
    assert [line["event"] for line in told] == ["leader.unanswered"] * 2


async def test_one_renewal_that_fails_does_not_cost_the_lead(row: Row, clock: FakeClock) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1 + RENEW_EVERY_S - 0.1)
        row.failure = OSError("a moment")
        await clock.advance(0.2)
        row.failure = None
        await clock.advance(TRUST_S)
        assert leader.is_leading


async def test_a_paused_leader_does_not_believe_in_a_lease_that_another_one_has(
    row: Row, clock: FakeClock
) -> None:
    paused, other = a_leader(row), a_leader(row, "bob")
    async with running(paused):
        await clock.advance(1)
    row.term, row.holder = 2, "bob"
    assert paused.term is None
    async with running(other):
        await clock.advance(FOLLOW_EVERY_S)
        assert other.is_leading


async def test_when_a_leader_dies_a_follower_leads_within_a_minute(
    row: Row, clock: FakeClock
) -> None:
    row.holder, row.term, row.expires_at = "dead", 1, LEASE_FOR.total_seconds()
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(FOLLOW_EVERY_S)
        assert term_of(leader) is None
        await clock.advance(1)
        assert term_of(leader) == 2


async def test_who_loses_its_term_follows(row: Row, clock: FakeClock) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1)
        row.term, row.holder, row.expires_at = 2, "bob", 1e9
        await clock.advance(RENEW_EVERY_S)
        assert not leader.is_leading
        asked = len(row.asked_at)
        await clock.advance(FOLLOW_EVERY_S - 1)
        assert len(row.asked_at) == asked


async def test_a_stop_resigns_and_lets_another_one_lead_at_once(row: Row, clock: FakeClock) -> None:
    leader, other = a_leader(row), a_leader(row, "bob")
    async with running(leader):
        await clock.advance(1)
    assert not leader.is_leading
    async with running(other):
        await clock.advance(1)
        assert term_of(other) == 2


async def test_who_has_resigned_does_so_once(row: Row, clock: FakeClock) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1)
        await leader.resign()
        row.holder, row.term, row.expires_at = "bob", 2, 1e9
        asked = len(row.asked_at)
        await leader.resign()
        assert len(row.asked_at) == asked
    assert row.expires_at == 1e9


async def test_who_has_resigned_does_not_lead_again(row: Row, clock: FakeClock) -> None:
    leader = a_leader(row)
    async with running(leader):
        await clock.advance(1)
        await leader.resign()
        await clock.advance(10 * FOLLOW_EVERY_S)
    assert row.term == 1


async def test_a_lead_that_comes_while_it_resigns_is_given_back(row: Row, clock: FakeClock) -> None:
    leader = a_leader(row)
    async with running(leader):
        row.answers.clear()
        await clock.advance(1)
        await leader.resign()
        row.answers.set()
        await clock.settle()
        assert (leader.is_leading, row.term) == (False, 1)
    assert row.expires_at <= clock.monotonic()


async def test_a_resignation_that_nobody_answers_does_not_keep_the_process(
    row: Row, clock: FakeClock
) -> None:
    leader = a_leader(row)
    async with running(leader) as (task,):
        await clock.advance(1)
        row.failure = OSError("gone")
    assert task.cancelled()
