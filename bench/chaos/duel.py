"""A process that settles a lease it is handed, in the moment in which a gate opens."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import SystemRandom
from typing import Any, Protocol
from uuid import UUID

import asyncpg
import structlog

from bench.chaos.diary import ANSWERED, RAN, Diary
from bench.chaos.hosts import REPOSITORY
from bench.chaos.work import worked_kinds
from storyshelf import logs
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.ids import LeaseToken
from storyshelf.queue.job import Completed, Lease, Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Settler

GATE = 4_711  # an advisory lock

AT_THE_GATE = """
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted
"""

log = structlog.get_logger()


class Place(Protocol):
    """Where a duel takes place."""

    folder: Path

    @property
    def url(self) -> str:
        """Where the database answers."""
        ...

    def read_also(self, diary: Diary) -> None:
        """Count this diary too."""
        ...


@dataclass(frozen=True, slots=True)
class Duellist:
    """One of the two."""

    process: asyncio.subprocess.Process

    async def draw(self, lease: Lease) -> None:
        """Hand it the lease; it goes to the gate."""
        assert self.process.stdin is not None, "it was asked for"
        said = {**asdict(lease), "token": str(lease.token), "trace": None}
        self.process.stdin.write(json.dumps(said).encode() + b"\n")
        await self.process.stdin.drain()

    async def answer(self) -> str:
        """Return what became of its settle."""
        assert self.process.stdout is not None, "it was asked for"
        return (await self.process.stdout.readline()).decode().strip()


@asynccontextmanager
async def a_duellist(place: Place, name: str) -> AsyncIterator[Duellist]:
    """Start one, and end it."""
    written = place.folder / f"{name}.log"
    place.read_also(Diary(written))
    with written.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.chaos.duel", place.url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=out,
            cwd=REPOSITORY,
        )
    try:
        yield Duellist(process)
    finally:
        assert process.stdin is not None, "it was asked for"
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def a_gate(url: str, waiting: int) -> AsyncIterator[None]:
    """Hold the gate shut for the block and until so many wait at it; then open it."""
    clock = SystemClock()
    gate = await asyncpg.connect(url, timeout=30)
    try:
        await gate.execute("SELECT pg_advisory_lock($1)", GATE)
        yield
        while await gate.fetchval(AT_THE_GATE, GATE) < waiting:
            await clock.sleep(0.01)
    finally:
        await gate.close()


async def duel(url: str) -> None:
    """Settle lease after lease, until stdin ends."""
    db, clock = Database(url), SystemClock()
    kinds = JobKinds(worked_kinds(db, clock))
    settler = Settler(db, kinds, clock, draw=SystemRandom().random)
    gate = await asyncpg.connect(url, timeout=30)
    while line := await asyncio.to_thread(sys.stdin.readline):
        lease = _lease(json.loads(line))
        hold = Hold(lease, clock.monotonic(), LeaseTimes())
        log.info(RAN, job=lease.job_id, token=str(lease.token))
        await gate.execute("SELECT pg_advisory_lock_shared($1)", GATE)
        told: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        settler.settle(Attempted(hold, kinds.find(lease.kind), Completed()), told.set_result)
        settled = await told
        answer = "lost" if settled is None else settled.value
        log.info(ANSWERED, job=lease.job_id, attempt=lease.attempt, outcome=answer)
        await gate.execute("SELECT pg_advisory_unlock_shared($1)", GATE)
        print(answer, flush=True)
    await gate.close()
    await settler.close()
    await db.close()


def _lease(said: dict[str, Any]) -> Lease:
    del said["trace"]
    return Lease(**{**said, "token": LeaseToken(UUID(said["token"]))})


if __name__ == "__main__":
    logs.configure("info", "json")
    asyncio.run(duel(sys.argv[1]))
