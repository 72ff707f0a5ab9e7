"""A build's run as a bench reads it, with times that are easy to add up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bench.split import BuildRun, Captured, Job

SEAL = datetime(2030, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return SEAL + timedelta(seconds=seconds)


def job(kind: str, started_s: float, finished_s: float) -> Job:
    return Job(kind, at(started_s), at(finished_s))


def a_run(**changes: object) -> BuildRun:
    """Two slots: one shard runs 6 s and one 4 s, of which the slots know 8 s."""
    run = BuildRun(
        sealed_at=SEAL,
        ended_at=at(10.5),
        jobs=[
            job("plan", 0.5, 2.5),
            job("capture", 3, 9),
            job("capture", 3, 7),
            job("finalise", 9.25, 10.25),
        ],
        snapshots=[
            Captured(2000, {"open": 500, "render": 1000, "settle": 250, "shoot": 150, "store": 40}),
            Captured(2000, {"open": 300, "first_picture": 2000, "compare": 600, "store": 60}),
        ],
        shards_ms=[{"child": 800, "record": 200}, {"child": 200, "record": 100}],
        slots=2,
    )
    return replace(run, **changes)  # type: ignore[arg-type]  # a test's shorthand
