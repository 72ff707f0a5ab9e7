"""The record beside the product's tables: written by triggers and by the kinds, read at the end."""

from collections.abc import Sequence

import asyncpg
from sqlalchemy import text

from bench.chaos.diary import Diary
from bench.chaos.ledger import Attempt, EndedBuild, Event, Facts, Moment
from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId, JobId
from storyshelf.operations.tidy_job import TIDY
from storyshelf.queue.job import EndedJob, Lease
from storyshelf.queue.job_kind import Settled

BARE = "errand"  # a kind without `apply`: its only effect is its row in `jobs_done`
BARE_KINDS = f"'{BARE}', '{TIDY}'"
UNENDED = (BuildState.UPLOADING, BuildState.QUEUED, BuildState.PLANNING, BuildState.CAPTURING)

# The row is locked when a trigger draws its number, so the numbers of one job are in true order.
SCHEMA = (
    "CREATE TABLE chaos_history"
    " (seq bigserial PRIMARY KEY, job_id bigint NOT NULL, event text NOT NULL, token uuid)",
    "CREATE TABLE chaos_effects (seq bigserial PRIMARY KEY, job_id bigint NOT NULL)",
    """
    CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' OR NEW.lease_token IS NULL THEN
            INSERT INTO chaos_history (job_id, event, token)
            VALUES (OLD.id, 'left', OLD.lease_token);
        ELSE
            INSERT INTO chaos_history (job_id, event, token)
            VALUES (NEW.id, 'granted', NEW.lease_token);
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION chaos_settled() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO chaos_effects (job_id) VALUES (NEW.id);
        INSERT INTO chaos_history (job_id, event, token)
        VALUES (NEW.id, 'applied', NEW.lease_token);
        RETURN NULL;
    END $$
    """,
    f"CREATE TRIGGER chaos_bare AFTER INSERT ON jobs_done FOR EACH ROW"
    f" WHEN (NEW.kind IN ({BARE_KINDS}) AND NEW.outcome = 'completed')"
    " EXECUTE FUNCTION chaos_settled()",
    "CREATE TRIGGER chaos_moved AFTER UPDATE OF lease_token ON jobs FOR EACH ROW"
    " WHEN (OLD.lease_token IS DISTINCT FROM NEW.lease_token) EXECUTE FUNCTION chaos_note()",
    "CREATE TRIGGER chaos_gone AFTER DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION chaos_note()",
)

APPLIED = text("""
WITH noted AS (
    INSERT INTO chaos_history (job_id, event, token)
    SELECT id, 'applied', token
    FROM unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS s(id, token)
)
INSERT INTO chaos_effects (job_id) SELECT unnest(CAST(:ids AS bigint[]))
""")
ENDED = text("INSERT INTO chaos_effects (job_id) SELECT unnest(CAST(:ids AS bigint[]))")
WROTE = text("INSERT INTO chaos_history (job_id, event, token) VALUES (:id, 'wrote', :token)")

BUILDS = """
SELECT b.id, b.state, b.open_shards, b.planned_generation IS NOT NULL AS was_planned, (
    SELECT count(*) FROM (
        SELECT build_id, kind, generation FROM jobs
        UNION ALL SELECT build_id, kind, generation FROM jobs_done
    ) AS j
    WHERE j.build_id = b.id AND j.kind = 'finalise' AND j.generation = b.generation
) AS finalisers
FROM builds AS b ORDER BY b.id
"""


async def open_record(db: Database) -> None:
    """Make the tables and triggers."""
    async with db.transaction() as tx:
        for statement in SCHEMA:
            await tx.execute(text(statement))


async def note_applied(tx: Tx, settled: Sequence[Settled]) -> None:
    """Write the effect of each, in the settling transaction."""
    ids = [each.lease.job_id for each in settled]
    await tx.execute(APPLIED, {"ids": ids, "tokens": [each.lease.token for each in settled]})


async def note_ended(tx: Tx, jobs: Sequence[EndedJob]) -> None:
    """Write that the kind was told of the end of each."""
    await tx.execute(ENDED, {"ids": [job.job_id for job in jobs]})


async def note_written(tx: Tx, lease: Lease) -> None:
    """Write that the attempt wrote results."""
    await tx.execute(WROTE, {"id": lease.job_id, "token": lease.token})


async def read_facts(
    url: str, promised: Sequence[JobId], builds: Sequence[BuildId], diaries: Sequence[Diary]
) -> Facts:
    """Read everything that a scenario left behind."""
    connection = await asyncpg.connect(url, timeout=30)
    try:
        return Facts(
            promised=frozenset(promised),
            promised_builds=frozenset(builds),
            unfinished=[row["id"] for row in await connection.fetch("SELECT id FROM jobs")],
            done={
                row["id"]: row["outcome"]
                for row in await connection.fetch("SELECT id, outcome FROM jobs_done")
            },
            effects=[
                row["job_id"] for row in await connection.fetch("SELECT job_id FROM chaos_effects")
            ],
            executed=frozenset(job for diary in diaries for job in diary.executed),
            attempts=await _attempts(connection),
            believed=[each for diary in diaries for each in diary.believed],
            history=await _history(connection),
            builds=[_build(row) for row in await connection.fetch(BUILDS)],
        )
    finally:
        await connection.close()


async def _attempts(connection: "asyncpg.Connection[asyncpg.Record]") -> Sequence[Attempt]:
    found = await connection.fetch(
        "SELECT job_id, attempt, outcome, lease_token FROM job_attempts ORDER BY job_id, attempt"
    )
    return [
        Attempt(row["job_id"], row["attempt"], row["outcome"], row["lease_token"]) for row in found
    ]


async def _history(connection: "asyncpg.Connection[asyncpg.Record]") -> Sequence[Moment]:
    found = await connection.fetch("SELECT job_id, event, token FROM chaos_history ORDER BY seq")
    return [Moment(row["job_id"], Event(row["event"]), row["token"]) for row in found]


def _build(row: asyncpg.Record) -> EndedBuild:
    return EndedBuild(
        build_id=row["id"],
        has_ended=row["state"] not in UNENDED,
        was_planned=row["was_planned"],
        open_shards=row["open_shards"],
        finalisers=row["finalisers"],
    )
