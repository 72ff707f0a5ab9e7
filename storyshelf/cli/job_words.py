"""Jobs as commands print them: a table of many, one with everything, or a JSON document."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from storyshelf.cli.columns import columns
from storyshelf.operations.asked_again import Again, KnownNow
from storyshelf.queue.job import JobState, Priority
from storyshelf.queue.store import Attempt, FailedJob, KnownJob, UnfinishedJob
from storyshelf.ui.view_models.job_lines import (
    CLASS_WORDS,
    Names,
    Purpose,
    purpose_of,
    standing,
)
from storyshelf.ui.words import ago, due, lasting, span

HEAD = ("JOB", "KIND", "FOR", "LANE", "STATE", "ATTEMPT", "SINCE", "ERROR")
TRIES_HEAD = ("ATTEMPT", "OUTCOME", "ENDED", "TOOK", "CONSUMER", "ERROR")
NOTHING = "-"


def job_document(job: UnfinishedJob | FailedJob | KnownJob | Attempt) -> Mapping[str, Any]:
    """Return what `--json` prints of a job or an attempt; the class is a word."""
    document = asdict(job)
    if "priority" in document:
        document["class"] = CLASS_WORDS[Priority(document.pop("priority"))]
    return document


def job_table(
    jobs: Sequence[UnfinishedJob | FailedJob], names: Names, now: datetime
) -> Sequence[str]:
    """Return the jobs in columns, with what they are for; nothing of none."""
    return columns(HEAD, [_row(job, names, now) for job in jobs]) if jobs else ()


def job_lines(job: KnownJob) -> Sequence[str]:
    """Return in a line how the job stands."""
    return [f"Job {job.job_id} ({job.kind}) {_standing(job)}."]


def known_lines(found: KnownNow, purpose: Purpose, now: datetime) -> Sequence[str]:
    """Return everything of a job, with its ended attempts."""
    job, attempts = found.job, found.ended
    facts = {"For": purpose.words, "Asked again": _again(found.again), **_facts(job, now)}
    width = max(len(name) for name in facts)
    return [
        *job_lines(job),
        "",
        *(f"{name.ljust(width)}  {value}" for name, value in facts.items() if value),
        *(["", *columns(TRIES_HEAD, [_try(one, now) for one in attempts])] if attempts else []),
    ]


def _again(again: Again | None) -> str:
    if again is None:
        return ""
    return "since" if again.job_id is None else f"as job {again.job_id}"


def _row(job: UnfinishedJob | FailedJob, names: Names, now: datetime) -> Sequence[str]:
    purpose = purpose_of(job.build_id, job.project_id, names)
    where = (str(job.job_id), job.kind, purpose.words or NOTHING, job.lane)
    if isinstance(job, FailedJob):
        since = ago(job.finished_at, now)
        return (*where, job.outcome.value, str(job.attempt), since, _one_line(job.error))
    attempt = f"{job.attempt}, {job.charged} of {job.max_attempts} charged"
    return (*where, standing(job).word, attempt, _since(job, now), _one_line(job.last_error))


def _since(job: UnfinishedJob, now: datetime) -> str:
    if job.state is JobState.RUNNING:
        return lasting(job.attempt_started_at or job.enqueued_at, now).words
    if job.state is JobState.DEFERRED:
        return due(job.run_at, now).words
    return ago(job.enqueued_at, now)


def _standing(job: KnownJob) -> str:
    return f"is {standing(job).word}"


def _facts(job: KnownJob, now: datetime) -> Mapping[str, str]:
    return {
        "Lane": job.lane,
        "Class": CLASS_WORDS[job.priority],
        "Attempts": f"{job.attempt}, {job.charged} of {job.max_attempts} charged",
        "Consumer": job.consumer_id or "",
        "Enqueued": ago(job.enqueued_at, now),
        "Started": "" if job.started_at is None else ago(job.started_at, now),
        "Ended": "" if job.finished_at is None else ago(job.finished_at, now),
        "Request": job.request_id or "",
        "Error": _one_line(job.error, nothing=""),
        "Payload": json.dumps(job.payload),
    }


def _try(one: Attempt, now: datetime) -> Sequence[str]:
    took = one.ended_at - (one.started_at or one.ended_at)
    return (
        *(str(one.attempt), one.outcome.value, ago(one.ended_at, now)),
        *(span(max(0.0, took.total_seconds())), one.consumer_id or NOTHING, _one_line(one.error)),
    )


def _one_line(error: str | None, nothing: str = NOTHING) -> str:
    return " ".join((error or nothing).split())
