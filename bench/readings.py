"""Reads what the product itself recorded of a build: rows, and its consumer's log."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.split import BuildRun, Captured, Job, UnreadableRunError
from tests.flow.product import Product

BUILD = """
SELECT b.id, b.sealed_at, b.ended_at FROM builds b JOIN projects p ON p.id = b.project_id
WHERE p.slug = $1 AND b.number = $2
"""
JOBS = "SELECT kind, attempt, started_at, finished_at FROM jobs_done WHERE build_id = $1"
SNAPSHOTS = """
SELECT duration_ms, timings_ms FROM snapshots WHERE build_id = $1 AND captured_at IS NOT NULL
"""
SHARDS = "SELECT id FROM shards WHERE build_id = $1"


def build_run(product: Product, slug: str, number: int, slots: int) -> BuildRun:
    """Return the run of an ended build. Raises UnreadableRunError if anything was done twice."""
    (build,) = product.rows(BUILD, slug, number)
    jobs = product.rows(JOBS, build["id"])
    if any(job["attempt"] != 1 for job in jobs):
        raise UnreadableRunError("A job of the build took more than one attempt.")
    shards = [row["id"] for row in product.rows(SHARDS, build["id"])]
    return BuildRun(
        sealed_at=build["sealed_at"],
        ended_at=build["ended_at"],
        jobs=[Job(job["kind"], job["started_at"], job["finished_at"]) for job in jobs],
        snapshots=[_captured(row) for row in product.rows(SNAPSHOTS, build["id"])],
        shards_ms=steps_of(
            shards, (line for each in product.started for line in each.words.splitlines())
        ),
        slots=slots,
    )


def steps_of(shards: Sequence[int], lines: Iterable[str]) -> Sequence[Mapping[str, float]]:
    """Return each shard's own steps from a consumer's log of JSON lines.

    Raises UnreadableRunError if one is missing.
    """
    said = {event["shard"]: event["took_ms"] for event in _events(lines)}
    if missing := set(shards) - said.keys():
        raise UnreadableRunError(f"The consumer's log does not tell of shards {sorted(missing)}.")
    return [said[shard] for shard in shards]


def _events(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("{") and '"shard.captured"' in line:
            yield json.loads(line)


def _captured(row: Mapping[str, Any]) -> Captured:
    timings = row["timings_ms"]  # asyncpg hands JSON on as text
    return Captured(
        row["duration_ms"], json.loads(timings) if isinstance(timings, str) else timings
    )
