"""PgQueuer, as its own command runs it: on uvloop, one asyncpg connection a worker."""

import asyncio
import uuid
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import asyncpg
import uvloop  # type: ignore[import-not-found]  # in the peers' venv alone
from pgqueuer import PgQueuer  # type: ignore[import-not-found]
from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found]
from pgqueuer.ports.repository import (  # type: ignore[import-not-found]
    EntrypointExecutionParameter,
)
from pgqueuer.queries import Queries  # type: ignore[import-not-found]

from bench.peers.lines import DEEDS, WARM_UP, Started, answer, deeds_of, spaced, timed

ANY_LEFT = "SELECT EXISTS (SELECT FROM pgqueuer)"
HEARTBEAT = timedelta(seconds=30)  # its default


def how(way: str, concurrency: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the arguments of the entrypoint and of the run that give it that concurrency."""
    ways: dict[str, tuple[dict[str, int], dict[str, int]]] = {
        "hard_cap": ({}, {"max_concurrent_tasks": concurrency, "batch_size": concurrency // 2}),
        "limit": ({"concurrency_limit": concurrency}, {"batch_size": concurrency}),
        "unlimited": ({}, {"batch_size": concurrency}),
    }
    return ways[way]


class PgQueuerSide:
    """One process of it."""

    async def prepare(self, url: str) -> dict[str, Any]:
        """Make the schema in the database of that url, if it is not there."""
        self.url = url
        connection = await asyncpg.connect(url)
        queries = Queries(AsyncpgDriver(connection))
        if not await queries.schema_is_installed():
            await queries.install()
        await connection.close()
        return {"version": version("pgqueuer")}

    async def clear(self) -> dict[str, Any]:
        """Empty the tables."""
        connection = await asyncpg.connect(self.url)
        await connection.execute("TRUNCATE pgqueuer, pgqueuer_log, pgqueuer_statistics")
        await connection.close()
        return {}

    async def enqueue(self, jobs: int) -> dict[str, Any]:
        """Enqueue so many in one call."""
        connection = await asyncpg.connect(self.url)
        queries = Queries(AsyncpgDriver(connection))

        async def send() -> None:
            await queries.enqueue(["noop"] * jobs, [b'{"n": 1}'] * jobs, [0] * jobs)

        seconds = await timed(send, 1)
        await connection.close()
        return {"seconds": seconds}

    async def enqueue_one_by_one(self, jobs: int) -> dict[str, Any]:
        """Enqueue so many, each by itself."""
        connection = await asyncpg.connect(self.url)
        queries = Queries(AsyncpgDriver(connection))

        async def send() -> None:
            await queries.enqueue("noop", b'{"n": 1}')

        await timed(send, WARM_UP)
        seconds = await timed(send, jobs)
        await connection.close()
        return {"seconds": seconds}

    async def drain(self, jobs: int, concurrency: int, way: str = "hard_cap") -> dict[str, Any]:
        """Work off what is there; the seconds from the first start to the last settle."""
        watching = await asyncpg.connect(self.url)
        await self.work(concurrency, jobs=jobs, way=way)
        seconds = await self.started.until_settled(lambda: watching.fetchval(ANY_LEFT))
        await self.rest()
        await watching.close()
        return {"seconds": seconds}

    async def work(self, concurrency: int, jobs: int = 1, way: str = "hard_cap") -> dict[str, Any]:
        """Start a worker."""
        limits, options = how(way, concurrency)
        self.started = Started(jobs)
        self.connection = await asyncpg.connect(self.url)
        self.queuer = PgQueuer(AsyncpgDriver(self.connection))

        @self.queuer.entrypoint("noop", **limits)  # type: ignore[untyped-decorator]
        async def noop(_job: Any) -> None:
            self.started.note()

        self.running = asyncio.ensure_future(self.queuer.run(**options))
        return {}

    async def rest(self) -> dict[str, Any]:
        """Stop it; return when the handlers started."""
        self.queuer.shutdown.set()
        await self.running
        await self.connection.close()
        return {"started": self.started.at}

    async def send(self, times: int, every_s: float) -> dict[str, Any]:
        """Enqueue one now and then."""
        connection = await asyncpg.connect(self.url)
        queries = Queries(AsyncpgDriver(connection))
        moments = await spaced(lambda: queries.enqueue("noop", b'{"n": 1}'), times, every_s)
        await connection.close()
        return {"moments": moments}

    async def claim(self, times: int, size: int) -> dict[str, Any]:
        """Claim so many at a time, and finish them."""
        connection = await asyncpg.connect(self.url)
        queries = Queries(AsyncpgDriver(connection))
        manager = uuid.uuid4()
        for _ in range(times):
            jobs = await queries.dequeue(
                size, {"noop": EntrypointExecutionParameter(0)}, manager, None, HEARTBEAT
            )
            assert len(jobs) == size, f"there were {len(jobs)} jobs to claim"
            await queries.log_jobs([(job, "successful", None) for job in jobs])
        await connection.close()
        return {}


if __name__ == "__main__":
    uvloop.run(answer(deeds_of(PgQueuerSide(), DEEDS)))
