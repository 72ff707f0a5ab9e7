"""Whoever tidies up dies while others go on naming what it is about to remove."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from secrets import SystemRandom
from signal import Signals
from time import monotonic
from typing import Any

from bench.chaos.diary import RAN, Diary
from bench.chaos.work import on_record
from bench.chaos.world import World
from bench.report import Length
from storyshelf.ids import BlobKey
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.tidy_job import MAINTAIN_LANE, tidy_job
from storyshelf.queue.job_kind import JobKinds
from storyshelf.storage.blobs import MissingBlobError
from storyshelf.storage.local import INCOMING, LEAVING, LocalBlobs
from tests.builds.hand import CONSUMER
from tests.operations.house import age, files_in

KILLS = {Length.QUICK: 3, Length.FULL: 20}
BUILDS, STRAYS = 6, 2_000  # made before each kill, to be dropped and swept
COLOURS = 40  # what is swept is named again, now and then
WITHIN_S = 0.8  # of the job's beginning; a whole tidying takes about as long
LEASE_S = 3.0
AGE = (
    "UPDATE blobs SET used_at = used_at - interval '25 hours'",
    "UPDATE builds SET created_at = created_at - interval '40 days',"
    " ended_at = ended_at - interval '40 days'",
)
NAMED = """
SELECT image_key AS key FROM snapshots WHERE image_key IS NOT NULL
UNION SELECT f.key FROM bundle_files AS f JOIN builds AS b ON b.id = f.build_id
UNION SELECT key FROM blobs
"""
ORPHANS = """
SELECT count(*) FROM (
    SELECT build_id FROM jobs UNION ALL SELECT build_id FROM jobs_done
    UNION ALL SELECT build_id FROM shards UNION ALL SELECT build_id FROM snapshots
    UNION ALL SELECT build_id FROM bundle_files
) AS of WHERE build_id NOT IN (SELECT id FROM builds)
"""
RUNNING = "SELECT count(*) FROM jobs WHERE kind = 'tidy' AND state = 'running'"
LIVE = "SELECT count(*) FROM jobs WHERE kind = 'tidy'"

draw = SystemRandom()


async def killed_tidyings(world: World, length: Length) -> Mapping[str, Any]:
    """Kill who tidies at any moment: what is named stays, nothing is left by halves."""
    world.lease_s = LEASE_S
    folder = world.folder / "blobs"
    blobs = LocalBlobs(folder)
    world.hand.blobs, world.hand.kinds = blobs, JobKinds([on_record(k) for k in every_kind()])
    colours, counts = count(), Counter[str]()
    for nth in range(KILLS[length]):
        await _make_dirt(world, folder, colours)
        await world.enqueue([tidy_job()])
        async with _naming(world, colours, counts):
            counts["in mid-tidying"] += await _kill_one(world, folder, nth)
        counts["left aside"] += len(list((folder / LEAVING).iterdir()))
        await _expect_whole(world, blobs)
    await world.consume("last", lanes={MAINTAIN_LANE: 1}, blobs=str(folder))
    await world.until_empty()
    await world.enqueue([tidy_job()])
    await world.until_empty()
    await _expect_whole(world, blobs)
    for name in (LEAVING, INCOMING):
        left = len(list((folder / name).iterdir()))
        world.expect(left == 0, f"nothing is left in {name}: {left}")
    world.expect(counts["in mid-tidying"], "a kill cut off a tidying")
    world.read_also(await _diary_of_hand(world))
    return {**counts, "kills": KILLS[length], "files": len(files_in(folder))}


async def _kill_one(world: World, folder: Path, nth: int) -> bool:
    """Kill a consumer at its tidying, at any moment or while a file lies aside; was it at it?"""
    consumer = await world.consume("tidy", lanes={MAINTAIN_LANE: 1}, blobs=str(folder))
    await world.until(lambda: world.count(RUNNING), "somebody tidies", 30.0)
    if nth % 2:
        await world.clock.sleep(WITHIN_S * draw.random())
    else:
        await asyncio.to_thread(_wait_until_aside, folder)
    consumer.send(Signals.SIGKILL)
    return bool(await world.count(RUNNING))


def _wait_until_aside(folder: Path) -> None:
    """Return as soon as a file lies aside, for microseconds each, or the time is over."""
    ends_at = monotonic() + WITHIN_S
    while not any((folder / LEAVING).iterdir()) and monotonic() < ends_at:
        pass  # a sleep would miss it


async def _make_dirt(world: World, folder: Path, colours: "count[int]") -> None:
    """Have old builds that are past the limits, and files that nobody names; nobody else is here.

    Colours come again: what is named in this round was swept, or is about to be, in another.
    """
    for _ in range(BUILDS):
        await world.hand.run({"a--one": f"{next(colours) % COLOURS}", "b--two": "same"})
    await asyncio.gather(*(world.hand.blobs.put(os.urandom(60)) for _ in range(STRAYS)))
    for statement in AGE:
        await world.ask(statement)
    for path in files_in(folder):
        age(path)


@asynccontextmanager
async def _naming(world: World, colours: "count[int]", counts: Counter[str]) -> AsyncIterator[None]:
    """Have builds brought in that name what lies there, while the block lasts; ends between two."""
    over = asyncio.Event()

    async def name() -> None:
        while not over.is_set():
            await world.hand.run({"a--one": f"{next(colours) % COLOURS}", "b--two": "same"})
            counts["builds beside"] += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(name())
        try:
            yield
        finally:
            over.set()


async def _expect_whole(world: World, blobs: LocalBlobs) -> None:
    """Whatever is named, by a row of its own or another's, can be read."""
    missing = 0
    for row in await world.ask(NAMED):
        try:
            await blobs.read(BlobKey(row["key"]))
        except MissingBlobError:
            missing += 1
    world.expect(missing == 0, f"everything that is named is here: {missing} missing")
    orphans = await world.count(ORPHANS)
    world.expect(orphans == 0, f"a build goes whole: {orphans} rows of none")


async def _diary_of_hand(world: World) -> Diary:
    """Return what was done in this process, as a consumer would have written it."""
    found = await world.ask("SELECT id FROM jobs_done WHERE consumer_id = $1", CONSUMER)
    lines = [json.dumps({"event": RAN, "job": row["id"]}) for row in found]
    path = world.folder / "hand.log"
    path.write_text("\n".join(lines))
    return Diary(path)
