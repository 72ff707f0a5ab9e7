"""What a scenario has to its hand: a cluster, consumers, work, and the promises it was given."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy.engine.url import make_url

from bench.chaos.consumer import LEASE_S, Orders
from bench.chaos.diary import Diary
from bench.chaos.hosts import Host, Started, a_host
from bench.chaos.ledger import Facts
from bench.chaos.record import open_record, read_facts
from bench.chaos.work import branch_of, plain_job
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.embedded import OWNER, PRODUCTION, EmbeddedPostgres
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, JobId
from storyshelf.queue import store
from storyshelf.queue.job import NewJob
from storyshelf.queue.wakeup import HintLine
from tests.builds.hand import Hand, a_hand
from tests.db.server import a_data_folder, chosen_binaries
from tests.fakes import MemoryBlobs

LOOK_EVERY_S = 0.1
LET_IN_WITHIN_S = 5.0
AT_ONCE = 100  # jobs in one enqueue
PATIENCE_S = 90.0  # for a queue to run empty after the faults are over


@dataclass
class World:
    """One scenario's own; everything in it ends with it."""

    folder: Path
    server: EmbeddedPostgres
    db: Database
    hand: Hand
    host: Host
    clock: SystemClock = field(default_factory=SystemClock)
    promised: list[JobId] = field(default_factory=list)
    builds: list[BuildId] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    lease_s: float = LEASE_S
    unmet: list[str] = field(default_factory=list)
    others: list[Diary] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where the database answers."""
        return self.server.url

    @property
    def admin_url(self) -> str:
        """The same database, for the superuser, who is let in when nobody else is."""
        url = make_url(self.server.admin_url).set(database=OWNER)
        return url.render_as_string(hide_password=False)

    @property
    def diaries(self) -> Sequence[Diary]:
        """What the consumers wrote, the dead ones too."""
        return [*(each.diary for each in self.started), *self.others]

    @property
    def alive(self) -> Sequence[Started]:
        """The consumers that have not ended."""
        return [each for each in self.started if each.is_alive]

    def read_also(self, diary: Diary) -> None:
        """Count this diary too."""
        self.others.append(diary)

    @asynccontextmanager
    async def beside(self, work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Have the work done for as long as the block lasts; what went wrong in it is raised."""
        task = asyncio.ensure_future(work)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    def expect(self, fact: object, words: str) -> None:
        """Note what did not hold; the ledger is read all the same."""
        if not fact:
            self.unmet.append(words)

    async def consume(self, name: str, *, host: Host | None = None, **more: Any) -> Started:
        """Start a consumer, `more` being orders; it is claiming within a second."""
        log = self.folder / f"{len(self.started):03}-{name}.log"
        orders = Orders(
            **{"name": name, "url": self.url, "log": str(log), "lease_s": self.lease_s, **more}
        )
        started = (host or self.host).start(orders)
        self.started.append(started)
        return started

    async def consume_all(self, names: str, **more: Any) -> Sequence[Started]:
        """Start a consumer for each letter."""
        return [await self.consume(name, **more) for name in names]

    async def enqueue(self, jobs: Sequence[NewJob]) -> Sequence[JobId]:
        """Enqueue, and keep what was promised once the commit is answered."""
        async with self.db.transaction() as tx:
            ids = [job_id for job_id in await store.enqueue(tx, jobs) if job_id is not None]
        self.promised += ids
        return ids

    async def enqueue_plain(self, lasts_ms: int) -> Sequence[JobId]:
        """Enqueue one plain job."""
        return await self.enqueue([plain_job(1, lasts_ms)])

    async def give(self, jobs: int, lasts_ms: int) -> None:
        """Enqueue that many plain jobs."""
        made = [plain_job(number, lasts_ms) for number in range(jobs)]
        for first in range(0, jobs, AT_ONCE):
            await self.enqueue(made[first : first + AT_ONCE])

    async def upload(self, builds: int, stories: Sequence[str]) -> None:
        """Upload and seal builds as the server does."""
        for _ in range(builds):
            sealed = await self.hand.upload(stories, branch_of(stories))
            self.builds.append(sealed.id)

    async def ask(self, question: str, *values: object) -> Sequence[asyncpg.Record]:
        """Return the rows of one statement, on a connection that no fault is meant for."""
        connection = await self._let_in()
        try:
            return list(await connection.fetch(question, *values))
        finally:
            await connection.close()

    async def _let_in(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Connect into one of the places kept for the superuser; those just left are free soon."""
        ends_at = self.clock.monotonic() + LET_IN_WITHIN_S
        while True:
            try:
                return await asyncpg.connect(self.admin_url, timeout=30)
            except asyncpg.TooManyConnectionsError:
                if self.clock.monotonic() > ends_at:
                    raise
            await self.clock.sleep(LOOK_EVERY_S)

    async def count(self, question: str, *values: object) -> int:
        """Return the number that the statement asks for."""
        return int((await self.ask(question, *values))[0][0])

    async def facts(self) -> Facts:
        """Return everything that is on the record by now."""
        return await read_facts(self.admin_url, self.promised, self.builds, self.diaries)

    async def unfinished(self) -> int:
        """Return how many jobs are in the queue."""
        return await self.count("SELECT count(*) FROM jobs")

    async def until(
        self, fact: Callable[[], Awaitable[object]], words: str, within_s: float = PATIENCE_S
    ) -> bool:
        """Wait for the fact; one that does not come true in time is noted as unmet."""
        ends_at = self.clock.monotonic() + within_s
        while not await fact():
            if self.clock.monotonic() > ends_at:
                self.expect(None, f"{words} within {within_s:g} s")
                return False
            await self.clock.sleep(LOOK_EVERY_S)
        return True

    async def until_done(self, number: int) -> bool:
        """Wait until that many jobs have left the queue."""

        async def are_done() -> bool:
            return await self.count("SELECT count(*) FROM jobs_done") >= number

        return await self.until(are_done, f"{number} jobs done")

    async def until_running(self, number: int) -> bool:
        """Wait until that many jobs are being worked on."""

        async def are_running() -> bool:
            running = "SELECT count(*) FROM jobs WHERE state = 'running'"
            return await self.count(running) >= number

        return await self.until(are_running, f"{number} jobs running")

    async def until_empty(self, within_s: float = PATIENCE_S) -> bool:
        """Wait until the queue is empty."""

        async def is_empty() -> bool:
            return await self.unfinished() == 0

        return await self.until(is_empty, "the queue ran empty", within_s)

    async def stop_all(self) -> None:
        """Have every consumer end in order, so that its diary is whole."""
        for each in self.alive:
            each.send(signal.SIGCONT)
            each.send(signal.SIGTERM)

        async def have_ended() -> bool:
            return not self.alive

        await self.until(have_ended, "every consumer stopped", 30.0)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What every world is made from."""

    pattern: Path  # a stopped cluster that is migrated, with an empty record
    host: Host


@contextmanager
def grounds() -> Iterator[Grounds]:
    """Make them once for many worlds."""
    with a_data_folder() as folder, a_host() as host:
        server = _server_in(folder)
        url = server.start()
        try:
            asyncio.run(_fit_out(url))
        finally:
            server.stop()
        server.files.port.unlink()  # each copy looks for one of its own
        yield Grounds(folder, host)


@asynccontextmanager
async def a_world(made_from: Grounds) -> AsyncIterator[World]:
    """Make a cluster with production's settings; end everything and remove it, whatever happens."""
    async with AsyncExitStack() as ends:
        folder = ends.enter_context(a_data_folder())
        await asyncio.to_thread(_copy, made_from.pattern, folder)
        server = _server_in(folder)
        ends.push_async_callback(asyncio.to_thread, server.stop)
        url = await asyncio.to_thread(server.start)
        db = Database(url, application="storyshelf")
        ends.push_async_callback(db.close)
        hints = asyncio.ensure_future(_hint(db))
        ends.push_async_callback(_cancelled, hints)
        world = World(folder, server, db, await a_hand(db, MemoryBlobs()), made_from.host)
        ends.callback(_end_all, world)
        yield world


def _server_in(folder: Path) -> EmbeddedPostgres:
    return EmbeddedPostgres(folder, chosen_binaries(), settings=PRODUCTION)


async def _fit_out(url: str) -> None:
    await migrate.upgrade(url, SystemClock())
    db = Database(url)
    await open_record(db)
    await db.close()


def _copy(pattern: Path, folder: Path) -> None:
    """Copy it with its owners, as the server's user is not ours."""
    subprocess.run(["cp", "-a", f"{pattern}/pg", f"{folder}/pg"], check=True)


async def _hint(db: Database) -> None:
    """Tell consumers of what is enqueued here, as the server does."""
    line = HintLine(db.direct_connection, SystemClock(), lambda _word: None)
    db.announce = line.send
    await line.run_forever()


async def _cancelled(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.wait([task])


def _end_all(world: World) -> None:
    for each in world.started:
        each.end()
