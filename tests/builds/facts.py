"""What stands in the database of a build, read plainly."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text

from storyshelf.builds import shard_store
from storyshelf.builds.build import Build
from storyshelf.builds.serving import BOOT
from storyshelf.builds.shard_store import Shard, ShardState
from storyshelf.snapshots.snapshot import Verdict
from tests.builds.hand import Hand

SNAPSHOTS = """
SELECT * FROM snapshots WHERE build_id = :id AND generation = :generation ORDER BY id
"""
ENDED = "SELECT kind, outcome FROM jobs_done WHERE build_id = :id ORDER BY id"
LIVE = "SELECT * FROM jobs WHERE build_id = :id ORDER BY id"
Rows = list[Mapping[str, Any]]


async def read(hand: Hand, statement: str, **values: Any) -> Rows:
    async with hand.db.transaction() as tx:
        found = await tx.execute(text(statement), values)
        return [dict(row) for row in found.mappings()]


async def run(hand: Hand, statement: str, **values: Any) -> None:
    async with hand.db.transaction() as tx:
        await tx.execute(text(statement), values)


async def age_jobs(hand: Hand) -> None:
    """Have the jobs wait for longer than a consumer takes to start."""
    seconds = BOOT.total_seconds()
    await run(hand, f"UPDATE jobs SET enqueued_at = enqueued_at - interval '{seconds} s'")


async def snapshots_of(hand: Hand, build: Build) -> dict[str, Mapping[str, Any]]:
    """The rows that count, by story."""
    fresh = await hand.fresh(build)
    rows = await read(hand, SNAPSHOTS, id=build.id, generation=fresh.planned_generation)
    return {row["story_id"]: row for row in rows}


async def verdicts_of(hand: Hand, build: Build) -> dict[str, Verdict]:
    rows = await snapshots_of(hand, build)
    return {story: Verdict(row["verdict"]) for story, row in rows.items()}


async def shards_of(hand: Hand, build: Build) -> list[Shard]:
    fresh = await hand.fresh(build)
    async with hand.db.transaction() as tx:
        return list(await shard_store.of_build(tx, build.id, fresh.planned_generation))


async def shard_states(hand: Hand, build: Build) -> list[ShardState]:
    return [shard.state for shard in await shards_of(hand, build)]


async def live_jobs(hand: Hand, build: Build) -> Rows:
    return await read(hand, LIVE, id=build.id)


async def live_kinds(hand: Hand, build: Build) -> list[str]:
    return [row["kind"] for row in await live_jobs(hand, build)]


async def ended_jobs(hand: Hand, build: Build) -> list[tuple[str, str]]:
    """Kind and outcome of the build's jobs that are over, in the order they were enqueued."""
    return [(row["kind"], row["outcome"]) for row in await read(hand, ENDED, id=build.id)]


async def actions_of(hand: Hand, build: Build) -> list[tuple[str, str]]:
    """Who did what to the build, as the audit has it."""
    told = "SELECT actor, action FROM audit_events WHERE build_id = :id ORDER BY id"
    return [(row["actor"], row["action"]) for row in await read(hand, told, id=build.id)]
