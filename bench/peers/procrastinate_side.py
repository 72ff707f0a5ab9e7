"""Procrastinate, with its defaults: a psycopg pool, one job a fetch."""

import asyncio
import contextlib
from importlib.metadata import version
from typing import Any

import asyncpg
from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found]
from procrastinate.jobs import Status  # type: ignore[import-not-found]

from bench.peers.lines import DEEDS, WARM_UP, Started, answer, deeds_of, spaced, timed

ANY_LEFT = """
SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing'))
"""
INSTALLED = "SELECT to_regclass('procrastinate_jobs') IS NOT NULL"


class ProcrastinateSide:
    """One process of it."""

    async def prepare(self, url: str) -> dict[str, Any]:
        """Make the schema in the database of that url, if it is not there."""
        self.url = url
        connection = await asyncpg.connect(url)
        if not await connection.fetchval(INSTALLED):
            async with self._app().open_async() as app:
                await app.schema_manager.apply_schema_async()
        await connection.close()
        return {"version": version("procrastinate")}

    def _app(self) -> Any:
        app = App(connector=PsycopgConnector(conninfo=self.url))

        @app.task(name="noop")  # type: ignore[untyped-decorator]
        async def noop(n: int) -> None:  # noqa: ARG001  # its payload
            self.started.note()

        self.noop = noop
        return app

    async def clear(self) -> dict[str, Any]:
        """Empty the tables."""
        connection = await asyncpg.connect(self.url)
        await connection.execute("TRUNCATE procrastinate_jobs, procrastinate_events CASCADE")
        await connection.close()
        return {}

    async def enqueue(self, jobs: int) -> dict[str, Any]:
        """Enqueue so many in one call."""
        async with self._app().open_async():
            seconds = await timed(
                lambda: self.noop.batch_defer_async(*[{"n": 1} for _ in range(jobs)]), 1
            )
        return {"seconds": seconds}

    async def enqueue_one_by_one(self, jobs: int) -> dict[str, Any]:
        """Enqueue so many, each by itself."""
        async with self._app().open_async():
            await timed(lambda: self.noop.defer_async(n=1), WARM_UP)
            seconds = await timed(lambda: self.noop.defer_async(n=1), jobs)
        return {"seconds": seconds}

    async def drain(self, jobs: int, concurrency: int) -> dict[str, Any]:
        """Work off what is there; the seconds from the first start to the last settle."""
        watching = await asyncpg.connect(self.url)
        await self.work(concurrency, jobs)
        seconds = await self.started.until_settled(lambda: watching.fetchval(ANY_LEFT))
        await self.rest()
        await watching.close()
        return {"seconds": seconds}

    async def work(self, concurrency: int, jobs: int = 1) -> dict[str, Any]:
        """Start a worker."""
        self.started = Started(jobs)
        self.open = self._app().open_async()
        app = await self.open.__aenter__()
        self.running = asyncio.ensure_future(
            app.run_worker_async(concurrency=concurrency, install_signal_handlers=False)
        )
        return {}

    async def rest(self) -> dict[str, Any]:
        """Stop it; return when the handlers started."""
        self.running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.running
        await self.open.__aexit__(None, None, None)
        return {"started": self.started.at}

    async def send(self, times: int, every_s: float) -> dict[str, Any]:
        """Enqueue one now and then."""
        async with self._app().open_async():
            moments = await spaced(lambda: self.noop.defer_async(n=1), times, every_s)
        return {"moments": moments}

    async def claim(self, times: int, size: int) -> dict[str, Any]:
        """Fetch and finish so many jobs, one at a time: it has no other way, whatever the size."""
        async with self._app().open_async() as app:
            worker = await app.job_manager.register_worker()
            for _ in range(times * size):
                job = await app.job_manager.fetch_job(queues=None, worker_id=worker)
                await app.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=False)
            await app.job_manager.unregister_worker(worker)
        return {}


if __name__ == "__main__":
    asyncio.run(answer(deeds_of(ProcrastinateSide(), DEEDS)))
