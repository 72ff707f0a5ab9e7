"""Every table of states: complete, closed, reachable, and kept by whoever writes the state."""

import re
from collections.abc import AsyncIterator, Mapping
from enum import StrEnum
from typing import Any

import pytest
from sqlalchemy import CheckConstraint, text

from storyshelf.builds import build as builds
from storyshelf.builds import shard_store, store
from storyshelf.builds.build import UNENDED, BuildMovedError, BuildState
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.base import Base
from storyshelf.db.engine import Database, Tx
from storyshelf.db.tables import BuildRow, JobAttemptRow, JobDoneRow, JobRow, ShardRow, SnapshotRow
from storyshelf.deliveries import delivery
from storyshelf.deliveries.delivery import DeliveryState
from storyshelf.ids import BuildId
from storyshelf.queue import job
from storyshelf.queue.job import STATE_AFTER, JobState, Outcome
from storyshelf.snapshots import decision, snapshot
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import FIRST_VERDICTS, Verdict
from storyshelf.traces import trace
from storyshelf.traces.trace import TraceState

Table = Mapping[Any, frozenset[Any]]
TABLES: Mapping[str, tuple[type[StrEnum], Table, frozenset[StrEnum]]] = {
    "job": (
        JobState,
        job.NEXT_STATES,
        frozenset({JobState.QUEUED, JobState.DEFERRED, JobState.PARKED}),
    ),
    "build": (BuildState, builds.NEXT_STATES, frozenset({BuildState.UPLOADING})),
    "shard": (ShardState, shard_store.NEXT_STATES, frozenset({ShardState.OPEN})),
    "decision": (Decision, decision.NEXT_STATES, frozenset({Decision.NONE})),
    "delivery": (DeliveryState, delivery.NEXT_STATES, frozenset({DeliveryState.WAITING})),
    "trace": (TraceState, trace.NEXT_STATES, frozenset({TraceState.WISHED})),
    "verdict": (Verdict, snapshot.NEXT_VERDICTS, FIRST_VERDICTS),
}
tables = pytest.mark.parametrize(("states", "table", "first"), TABLES.values(), ids=TABLES)


@tables
def test_a_table_says_of_every_state_what_may_follow(
    states: type[StrEnum], table: Table, first: frozenset[StrEnum]
) -> None:
    assert set(table) == set(states)


@tables
def test_a_table_leads_to_known_states_only(
    states: type[StrEnum], table: Table, first: frozenset[StrEnum]
) -> None:
    assert frozenset().union(*table.values()) <= set(states)


@tables
def test_no_state_follows_itself(
    states: type[StrEnum], table: Table, first: frozenset[StrEnum]
) -> None:
    assert [state for state, following in table.items() if state in following] == []


@tables
def test_every_state_can_be_reached(
    states: type[StrEnum], table: Table, first: frozenset[StrEnum]
) -> None:
    reached: set[Any] = set()
    ahead = set(first)
    while ahead:
        reached |= ahead
        ahead = {state for one in ahead for state in table[one]} - reached
    assert reached == set(states)


def test_every_outcome_of_an_attempt_says_where_the_job_goes() -> None:
    assert set(STATE_AFTER) == set(Outcome)


def test_an_attempt_leads_only_where_a_running_job_may_go() -> None:
    reached = {state for state in STATE_AFTER.values() if state is not None}
    assert reached == job.NEXT_STATES[JobState.RUNNING]


def test_only_a_lost_attempt_leaves_the_job_to_others() -> None:
    assert [one for one, state in STATE_AFTER.items() if state is None] == [Outcome.LOST]


def test_a_build_that_has_ended_stays_so_until_it_goes_back() -> None:
    ended = set(BuildState) - UNENDED
    back = {state for state in ended if builds.NEXT_STATES[state] & UNENDED}
    assert back == {
        BuildState.BROKEN,
        BuildState.FAILED,
        BuildState.INCOMPLETE,
        BuildState.CANCELLED,
    }


def test_every_unended_build_can_be_cancelled() -> None:
    assert {s for s, to in builds.NEXT_STATES.items() if BuildState.CANCELLED in to} == UNENDED


def test_what_planning_does_not_render_is_never_captured() -> None:
    assert [v for v in FIRST_VERDICTS if snapshot.NEXT_VERDICTS[v]] == [Verdict.PLANNED]


def words_allowed(row: type[Base], column: str) -> set[str]:
    """The words that the database's own constraint lets into the column."""
    checks = [c for c in row.metadata.tables[row.__tablename__].constraints if c.name is not None]
    (found,) = [
        str(check.sqltext)
        for check in checks
        if isinstance(check, CheckConstraint) and str(check.sqltext).startswith(f"{column} IN")
    ]
    return set(re.findall(r"'(\w+)'", found))


HOT = {JobState.QUEUED, JobState.DEFERRED, JobState.PARKED, JobState.RUNNING}
GOES_BACK = {Outcome.RETRIED, Outcome.RELEASED, Outcome.LOST}


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (BuildRow, "state", set(BuildState)),
        (ShardRow, "state", set(ShardState)),
        (SnapshotRow, "verdict", set(Verdict)),
        (SnapshotRow, "decision", set(Decision)),
        (JobRow, "state", HOT),
        (JobDoneRow, "state", set(JobState) - HOT),
        (JobDoneRow, "outcome", set(Outcome) - GOES_BACK),
        (JobAttemptRow, "outcome", set(Outcome)),
    ],
)
def test_the_database_knows_the_same_words(
    row: type[Base], column: str, words: set[StrEnum]
) -> None:
    assert words_allowed(row, column) == words


A_PROJECT = "INSERT INTO projects (slug, name) VALUES ('shop', 'Shop') RETURNING id"
A_BUILD = """
INSERT INTO builds (project_id, number, idempotency_key, branch, commit, state, ended_at,
    sealed_at, planned_at, planned_generation)
SELECT max(id), :number, CAST(:number AS int)::text, 'main', 'c0ffee', :state,
    CASE WHEN :ended THEN now() END,
    now(), now(), 1
FROM projects RETURNING id
"""


async def a_build_that_is(tx: Tx, state: BuildState, number: int = 1) -> builds.Build:
    values = {"number": number, "state": state, "ended": state not in UNENDED}
    made = await tx.execute(text(A_BUILD), values)
    return await store.by_id(tx, BuildId(made.scalar_one()))


@pytest.fixture
async def tx(db: Database) -> AsyncIterator[Tx]:
    """A transaction in which there is a project."""
    async with db.transaction() as tx:
        await tx.execute(text(A_PROJECT))
        yield tx


@pytest.mark.parametrize("from_", BuildState)
async def test_a_build_moves_where_its_table_says(tx: Tx, from_: BuildState) -> None:
    for number, to in enumerate(sorted(builds.NEXT_STATES[from_]), start=1):
        moved = await store.move(tx, await a_build_that_is(tx, from_, number), to)
        assert moved.state is to
        assert moved.has_ended == (moved.ended_at is not None)


@pytest.mark.parametrize("from_", BuildState)
async def test_a_build_moves_nowhere_else_and_says_from_where_to_where(
    tx: Tx, from_: BuildState
) -> None:
    build = await a_build_that_is(tx, from_)
    for to in set(BuildState) - builds.NEXT_STATES[from_]:
        with pytest.raises(BuildMovedError, match=f"is {from_} cannot become {to}"):
            await store.move(tx, build, to)
    assert await store.by_id(tx, build.id) == build


async def test_a_build_that_was_moved_meanwhile_is_not_moved_again(tx: Tx) -> None:
    seen = await a_build_that_is(tx, BuildState.QUEUED)
    await store.move(tx, seen, BuildState.CANCELLED)
    with pytest.raises(BuildMovedError, match="is cancelled cannot become planning"):
        await store.move(tx, seen, BuildState.PLANNING)


async def test_a_build_of_another_generation_is_not_moved(tx: Tx) -> None:
    seen = await a_build_that_is(tx, BuildState.FAILED)
    queued = await store.move(tx, seen, BuildState.QUEUED, generation=2)
    await store.move(tx, queued, BuildState.FAILED)
    with pytest.raises(BuildMovedError):
        await store.move(tx, seen, BuildState.QUEUED, generation=2)
