"""Rows of the queue's tables as values; shared by the statements, one module per verb."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Row

from storyshelf.queue.job import EndedJob, Lease, Outcome, Payload


@dataclass(frozen=True, slots=True)
class SettledJob:
    """What really became of a job in the statement that ended its attempt."""

    job: EndedJob
    outcome: Outcome
    error: str


def payload_of(value: Any) -> Payload:
    """Return a jsonb column as a mapping."""
    assert isinstance(value, dict), "a payload is an object, by the table's own check"
    return value


def lease_of(row: Row[Any]) -> Lease:
    """Return the lease that a claim gave."""
    return Lease(
        job_id=row.id,
        token=row.lease_token,
        kind=row.kind,
        lane=row.lane,
        payload=payload_of(row.payload),
        project_id=row.project_id,
        build_id=row.build_id,
        generation=row.generation,
        attempt=row.attempt,
        charged=row.charged,
        max_attempts=row.max_attempts,
    )


def ended_of(row: Row[Any]) -> EndedJob:
    """Return what the job's kind is told of a job that left the queue."""
    return EndedJob(
        job_id=row.id,
        kind=row.kind,
        payload=payload_of(row.payload),
        project_id=row.project_id,
        build_id=row.build_id,
        generation=row.generation,
    )


def settled_of(row: Row[Any]) -> SettledJob:
    """Return what became of the job; `outcome` and `error` are the row's."""
    return SettledJob(ended_of(row), Outcome(row.outcome), row.error or "")
