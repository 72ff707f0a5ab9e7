"""Rows of the queue's tables as values; shared by the statements, one module per verb."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Row

from storyshelf.queue.job import EndedJob, Lease, Outcome, Payload, Priority, Trace

LEASE_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class SettledJob:
    """What really became of a job in the statement that ended its attempt."""

    job: EndedJob
    outcome: Outcome
    error: str
    goes_back: bool = False  # it is in the queue still, or again


def payload_of(value: Any) -> Payload:
    """Return a jsonb column as a mapping."""
    assert isinstance(value, dict), "a payload is an object, by the table's own check"
    return value


def lease_of(row: Row[Any]) -> Lease:
    """Return the lease that a claim gave; by position, in the order of its columns.

    It is made for every job there is, and names cost as much as all the rest.
    """
    job_id, token, kind, lane, payload, project_id, build_id, generation, *rest = row[
        :LEASE_COLUMNS
    ]
    attempt, charged, max_attempts, priority, fair_tag, request_id, traceparent, waited_ms = rest
    return Lease(
        job_id,
        token,
        kind,
        lane,
        payload_of(payload),
        project_id,
        build_id,
        generation,
        attempt,
        charged,
        max_attempts,
        Priority(priority),
        fair_tag,
        round(waited_ms),
        Trace(request_id, traceparent),
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


def settled_here(row: Row[Any]) -> SettledJob:
    """Return what became of the job in a settle, which may have put it back."""
    return SettledJob(ended_of(row), Outcome(row.outcome), row.error or "", row.goes_back)
