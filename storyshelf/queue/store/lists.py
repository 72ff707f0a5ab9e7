"""Lists of jobs for whoever runs the server, each walked in the order of one index.

None counts, and none reads what it does not return: with a million jobs in the queue a page of a
list costs what it costs with a hundred. So a list goes on behind the last job that was seen, and
jobs that wait are listed in the order in which they are taken, which is the order of their index.
Nothing here locks or writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import TextClause, text

from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, ConsumerId, JobId, ProjectId
from storyshelf.queue.job import JobState, Outcome, Priority

COLUMNS = """id AS job_id, kind, lane, priority, fair_tag, state, project_id, build_id, attempt,
    charged, max_attempts, consumer_id, enqueued_at, run_at, attempt_started_at,
    cancel_requested_at, release_requested_at, last_error"""


def _by_turn(state: str, key: str) -> TextClause:
    # The rest of the class, the lower classes of the key, the keys behind it: three ranges of one
    # index. As one condition it would be a filter, and everything before the page would be read.
    def part(where: str) -> str:
        return (
            f"(SELECT * FROM jobs WHERE state = '{state}' AND {where}"  # noqa: S608  # constants
            f" ORDER BY {key}, priority DESC, fair_tag, id LIMIT :limit)"
        )

    here, rest = (
        f"{key} = :key AND priority = CAST(:priority AS smallint)",
        f"{key} = :key AND priority < CAST(:priority AS smallint)",
    )
    behind = "(fair_tag, id) > (CAST(:fair_tag AS bigint), CAST(:after_id AS bigint))"
    parts = (part(f"{here} AND {behind}"), part(rest), part(f"{key} > :key"))
    return text(
        f"SELECT {COLUMNS} FROM ({' UNION ALL '.join(parts)}) AS jobs"  # noqa: S608  # constants
        f" ORDER BY {key}, priority DESC, fair_tag, id LIMIT :limit"
    )


QUEUED = _by_turn("queued", "lane")
PARKED = _by_turn("parked", "project_id")

FIRST_OF_LANES = text(f"""
SELECT {COLUMNS}
FROM unnest(CAST(:lanes AS text[]), CAST(:priorities AS smallint[]))
    WITH ORDINALITY AS wanted (of_lane, of_class, place)
CROSS JOIN LATERAL (
    SELECT * FROM jobs WHERE state = 'queued' AND lane = of_lane AND priority = of_class
    ORDER BY fair_tag, id LIMIT :each
) AS jobs
ORDER BY place, fair_tag, id
""")  # noqa: S608  # a constant

RUNNING = text(f"""
SELECT {COLUMNS} FROM jobs WHERE state = 'running' AND id > :after ORDER BY id LIMIT :limit
""")  # noqa: S608  # a constant

DEFERRED = text(f"""
SELECT {COLUMNS} FROM jobs
WHERE state = 'deferred' AND (run_at, id) > (
    coalesce(CAST(:after_at AS timestamptz), '-infinity'),
    coalesce(CAST(:after_id AS bigint), 0)
)
ORDER BY run_at, id LIMIT :limit
""")  # noqa: S608  # a constant

FAILED = text("""
SELECT id AS job_id, kind, lane, outcome, project_id, build_id, attempt, error, finished_at
FROM jobs_done
WHERE state = 'failed' AND (finished_at, id) < (
    coalesce(CAST(:before_at AS timestamptz), 'infinity'),
    coalesce(CAST(:before_id AS bigint), 0)
)
ORDER BY finished_at DESC, id DESC LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class UnfinishedJob:
    """A job that waits or runs."""

    job_id: JobId
    kind: str
    lane: str
    priority: Priority
    fair_tag: int
    state: JobState
    project_id: ProjectId | None
    build_id: BuildId | None
    attempt: int
    charged: int  # of max_attempts; what was given back after some progress is not
    max_attempts: int
    consumer_id: ConsumerId | None
    enqueued_at: datetime
    run_at: datetime  # a deferred one is due then
    attempt_started_at: datetime | None
    cancel_requested_at: datetime | None
    release_requested_at: datetime | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that ended without success and was not cancelled."""

    job_id: JobId
    kind: str
    lane: str
    outcome: Outcome
    project_id: ProjectId | None
    build_id: BuildId | None
    attempt: int
    error: str | None
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class LaneTurn:
    """A place among the jobs that are queued; the default comes before all."""

    lane: str = ""
    priority: int = Priority.INTERACTIVE
    fair_tag: int = 0
    job_id: int = 0


@dataclass(frozen=True, slots=True)
class ProjectTurn:
    """A place among the jobs that their projects' caps hold back; the default comes before all."""

    project_id: int = 0
    priority: int = Priority.INTERACTIVE
    fair_tag: int = 0
    job_id: int = 0


async def queued_jobs(tx: Tx, *, after: LaneTurn, limit: int) -> tuple[UnfinishedJob, ...]:
    """Return jobs that may be claimed: by lane, and on each in the order in which they will be."""
    return await _unfinished(tx, QUEUED, {"key": after.lane, **_place(after), "limit": limit})


async def parked_jobs(tx: Tx, *, after: ProjectTurn, limit: int) -> tuple[UnfinishedJob, ...]:
    """Return jobs that wait until their project may run more, by project."""
    return await _unfinished(tx, PARKED, {"key": after.project_id, **_place(after), "limit": limit})


async def first_of_lanes(
    tx: Tx, classes: Sequence[tuple[str, Priority]], *, each: int
) -> tuple[UnfinishedJob, ...]:
    """Return what is claimed next of each class of a lane, in the order given."""
    values = {
        "lanes": [lane for lane, _ in classes],
        "priorities": [int(priority) for _, priority in classes],
        "each": each,
    }
    return await _unfinished(tx, FIRST_OF_LANES, values)


async def running_jobs(tx: Tx, *, after: int = 0, limit: int) -> tuple[UnfinishedJob, ...]:
    """Return jobs that consumers hold, in order of their ids."""
    return await _unfinished(tx, RUNNING, {"after": after, "limit": limit})


async def deferred_jobs(
    tx: Tx, *, after: tuple[datetime, JobId] | None, limit: int
) -> tuple[UnfinishedJob, ...]:
    """Return jobs that wait for their time, the next one first, from behind the given one."""
    at, job_id = after or (None, None)
    return await _unfinished(tx, DEFERRED, {"after_at": at, "after_id": job_id, "limit": limit})


async def failed_jobs(
    tx: Tx, *, before: tuple[datetime, JobId] | None, limit: int
) -> tuple[FailedJob, ...]:
    """Return jobs that failed, the latest first, from before the given one."""
    at, job_id = before or (None, None)
    found = await tx.execute(FAILED, {"before_at": at, "before_id": job_id, "limit": limit})
    return tuple(
        FailedJob(**{**row, "outcome": Outcome(row["outcome"])}) for row in found.mappings()
    )


def _place(after: LaneTurn | ProjectTurn) -> Mapping[str, int]:
    return {
        "priority": after.priority,
        "fair_tag": after.fair_tag,
        "after_id": after.job_id,
    }


async def _unfinished(
    tx: Tx, statement: TextClause, values: Mapping[str, Any]
) -> tuple[UnfinishedJob, ...]:
    found = await tx.execute(statement, values)
    return tuple(
        UnfinishedJob(
            **{**row, "state": JobState(row["state"]), "priority": Priority(row["priority"])}
        )
        for row in found.mappings()
    )
