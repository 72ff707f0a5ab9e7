"""What was counted reaches the database once, whatever happens on the way."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.operations.accumulator import MINUTES_KEPT, Accumulator
from storyshelf.operations.flush import EVERY_S, Flush
from storyshelf.operations.histogram import bucket_of
from storyshelf.queue.job import AttemptEnded, Outcome
from tests.fakes import FakeClock
from tests.queue.builders import run, table, until
from tests.queue.flaky import FlakyDatabase

ANN, BOB = UUID(int=1), UUID(int=2)
CAPTURED = AttemptEnded("capture", "capture@x", Outcome.COMPLETED, 1, waited_ms=40, ran_ms=1_500)
PLANNED = AttemptEnded("plan", "plan", Outcome.RETRIED, 2, waited_ms=0, ran_ms=90)


class CountingDatabase(FlakyDatabase):
    """Also counts what was committed."""

    commits = 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        async with super().transaction() as tx:
            yield tx
        self.commits += 1


class Process:
    """A process that counts and flushes, on a database that can fail."""

    def __init__(self, database_url: str, nonce: UUID = ANN) -> None:
        self.clock = FakeClock()
        self.db = CountingDatabase(database_url)
        self.accumulator = Accumulator(self.clock.monotonic)
        self.flush = Flush(self.db, self.accumulator, self.clock, nonce=nonce)
        self.observed = Counter[tuple[str, str]]()

    def observe(self, *ended: AttemptEnded) -> None:
        for each in ended:
            self.observed[each.kind, each.outcome.value] += 1
            self.accumulator.observe(each)

    async def fail_to_flush(self) -> None:
        with pytest.raises(ConnectionError):
            await self.flush.flush()

    async def flushed(self) -> Counter[tuple[str, str]]:
        return await flushed(self.db)


async def flushed(db: Database) -> Counter[tuple[str, str]]:
    found = Counter[tuple[str, str]]()
    for row in await table(db, "job_metrics"):
        found[row["kind"], row["outcome"]] += row["count"]
    return found


@pytest.fixture
async def process(database_url: str) -> AsyncIterator[Process]:
    made = Process(database_url)
    yield made
    await made.db.close()


async def test_what_was_counted_is_flushed_on_the_timer(process: Process) -> None:
    flushing = asyncio.ensure_future(process.flush.run_forever())
    process.observe(CAPTURED, CAPTURED, PLANNED)
    await process.clock.advance(EVERY_S)
    await until(lambda: process.db.commits == 1)
    flushing.cancel()
    assert await process.flushed() == process.observed


async def test_who_counted_nothing_says_nothing(process: Process) -> None:
    await process.flush.flush()
    assert process.db.commits == 0


async def test_a_row_holds_all_that_was_counted_of_its_attempts(process: Process) -> None:
    process.observe(CAPTURED, CAPTURED)
    await process.flush.flush()
    (row,) = await table(process.db, "job_metrics")
    assert (row["width"], row["start_at"].second) == ("minute", 0)
    assert (row["count"], row["attempts"], row["wait_ms"], row["run_ms"]) == (2, 2, 80, 3_000)
    assert (row["wait_histogram"][bucket_of(40)], sum(row["wait_histogram"])) == (2, 2)
    assert (row["run_histogram"][bucket_of(1_500)], sum(row["run_histogram"])) == (2, 2)


async def test_flushes_of_a_minute_add_up(process: Process) -> None:
    for _ in range(3):
        process.observe(CAPTURED, PLANNED)
        await process.flush.flush()
    rows = await table(process.db, "job_metrics")
    assert sorted(row["count"] for row in rows) == [3, 3]
    assert sum(sum(row["run_histogram"]) for row in rows) == 6


async def test_two_processes_flush_into_the_same_minute(
    process: Process, database_url: str
) -> None:
    other = Process(database_url, BOB)
    for each in (process, other):
        each.observe(CAPTURED, PLANNED)
    await asyncio.gather(process.flush.flush(), other.flush.flush())
    await other.db.close()
    assert await process.flushed() == process.observed + other.observed


async def test_a_clock_that_is_wrong_by_an_hour_counts_into_the_right_minute(
    process: Process,
) -> None:
    """The process's clock is years ahead here; an attempt is as old as the process has waited."""
    process.observe(CAPTURED)
    await process.clock.advance(1_200)
    process.observe(PLANNED)
    await process.flush.flush()
    async with process.db.transaction() as tx:
        found = await tx.execute(
            text("SELECT kind, extract(epoch FROM now() - start_at) AS old_s FROM job_metrics")
        )
        old_s = {row.kind: float(row.old_s) for row in found}
    assert 0 <= old_s["plan"] < 120
    assert 1_200 <= old_s["capture"] < 1_320


async def test_what_could_not_be_sent_is_sent_with_what_comes_after(process: Process) -> None:
    process.observe(CAPTURED)
    process.db.refusals = 1
    await process.fail_to_flush()
    process.observe(PLANNED)
    await process.flush.flush()
    assert await process.flushed() == process.observed


async def test_a_flush_whose_answer_was_lost_is_counted_once(process: Process) -> None:
    process.observe(CAPTURED)
    process.db.lost_answers = 1
    await process.fail_to_flush()
    assert await process.flushed() == process.observed
    process.observe(CAPTURED, PLANNED)
    await process.flush.flush()
    assert await process.flushed() == process.observed


async def test_one_whose_answers_are_lost_again_and_again_is_counted_once(
    process: Process,
) -> None:
    process.observe(CAPTURED)
    process.db.lost_answers = 3
    for _ in range(3):
        await process.fail_to_flush()
    await process.flush.flush()
    assert await process.flushed() == process.observed


async def test_one_that_may_have_been_counted_is_given_up_when_it_is_too_old(
    process: Process,
) -> None:
    process.observe(CAPTURED)
    process.db.lost_answers = 1
    await process.fail_to_flush()
    await run(process.db, "DELETE FROM metric_flushes")  # it was pruned meanwhile
    await process.clock.advance(60 * MINUTES_KEPT)
    await process.flush.flush()
    assert process.accumulator.dropped == 1


async def test_one_that_was_counted_is_never_dropped_however_old_it_is(process: Process) -> None:
    process.observe(CAPTURED)
    process.db.lost_answers = 1
    await process.fail_to_flush()
    await process.clock.advance(60 * MINUTES_KEPT)
    await process.flush.flush()
    assert await process.flushed() == process.observed
    assert process.accumulator.dropped == 0


async def test_the_last_flush_is_tried_again(process: Process) -> None:
    process.observe(CAPTURED)
    process.db.refusals = 2
    last = asyncio.ensure_future(process.flush.flush_last())
    await process.clock.advance(1.0)
    await last
    assert await process.flushed() == process.observed
    assert process.flush.failures == 2


async def test_the_last_flush_gives_up_on_a_database_that_stays_away(process: Process) -> None:
    process.observe(CAPTURED)
    process.db.refusals = 100
    last = asyncio.ensure_future(process.flush.flush_last())
    await process.clock.advance(2.0)
    await last
    assert process.accumulator.pending_minutes == 1


async def test_a_flush_that_is_cut_off_leaves_what_it_had_to_the_last_one(
    process: Process,
) -> None:
    process.observe(CAPTURED)
    async with process.db.engine.connect() as other, other.begin():
        await other.execute(text("LOCK TABLE job_metrics"))
        flushing = asyncio.ensure_future(process.flush.flush())
        await until(lambda: process.accumulator.pending_minutes == 0)
        flushing.cancel()
        await asyncio.wait({flushing})
    await process.flush.flush_last()
    assert await process.flushed() == process.observed


STEPS = st.lists(
    st.one_of(
        st.sampled_from([(CAPTURED,), (PLANNED,), (CAPTURED, CAPTURED, PLANNED)]),
        st.sampled_from(["flush", "is refused", "loses the answer", "a minute", "half an hour"]),
    ),
    max_size=25,
)


@pytest.mark.timeout(60)
@given(steps=STEPS)
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_all_outcomes_are_flushed_or_counted_as_dropped(
    database_url: str, steps: Sequence[str | tuple[AttemptEnded, ...]]
) -> None:
    asyncio.run(take(database_url, steps))


async def take(database_url: str, steps: Sequence[str | tuple[AttemptEnded, ...]]) -> None:
    process = Process(database_url, uuid4())
    await run(process.db, "TRUNCATE job_metrics, metric_flushes")
    for step in steps:
        await take_one(process, step)
    process.db.refusals = process.db.lost_answers = 0
    await process.flush.flush()
    counted = sum((await process.flushed()).values())
    assert counted + process.accumulator.dropped == process.observed.total()
    assert await process.flushed() <= process.observed
    await process.db.close()


async def take_one(process: Process, step: str | tuple[AttemptEnded, ...]) -> None:
    match step:
        case "flush":
            await process.flush.flush()
        case "is refused":
            process.db.refusals = 1
            await attempt(process)
        case "loses the answer":
            process.db.lost_answers = 1
            await attempt(process)
        case "a minute":
            await process.clock.advance(60)
        case "half an hour":
            await process.clock.advance(1_800)
        case str():
            raise AssertionError(step)
        case _:
            process.observe(*step)


async def attempt(process: Process) -> None:
    with suppress(ConnectionError):
        await process.flush.flush()
    process.db.refusals = process.db.lost_answers = 0
