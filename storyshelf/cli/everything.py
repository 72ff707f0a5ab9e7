"""All of storyshelf on one machine, as one block: database, migrations, server, consumers.

They come in this order and go in the opposite one. What cannot be done because this process is
killed is done by `aftermath`.
"""

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from storyshelf.auth.secrets import secrets_of
from storyshelf.cli.behind import Behind, clean_up_behind
from storyshelf.cli.database import embedded_server, plain_errors
from storyshelf.cli.first_admin import ensure_administrator
from storyshelf.cli.first_project import Wanted, ensure_saved
from storyshelf.cli.listening import LOCALHOST, bind, require_somebody
from storyshelf.cli.own_database import is_stopped, kept_up, stopped_after
from storyshelf.cli.supervise import Keeper, Program
from storyshelf.cli.up_note import Note, read_note, remove_note, write_note
from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.db.migrate import upgrade
from storyshelf.errors import StoryshelfError
from storyshelf.settings import Settings
from storyshelf.web.hosts import ContentHosts

READY_WITHIN_S = 60.0
KILL_AFTER_GRACE_S = 5.0  # who keeps the grace by itself has ended before this
LOOK_S = 0.2
ANSWER_S = 5.0
PYTHON = (sys.executable, "-P", "-m")
TOKEN = "STORYSHELF_PROJECT_TOKEN"  # noqa: S105  # the variable's name


class ServerNotReadyError(StoryshelfError):
    """The server was started, and does not answer."""

    http_status = 503

    def __init__(self, url: str, log: Path) -> None:
        super().__init__(
            f"The server was not ready within {READY_WITHIN_S:g} s",
            where=url,
            next_step=f"Look into {log}.",
        )


@dataclass(frozen=True, slots=True)
class Order:
    """What one `up` is asked for, and the lock that it holds."""

    settings: Settings
    project: str | None
    lock: int
    clock: Clock
    say: Callable[[str], None]

    @property
    def logs(self) -> Path:
        """Return the folder of all logs."""
        return self.settings.data_dir / "logs"


@asynccontextmanager
async def everything(order: Order) -> AsyncIterator[Note]:
    """Have it all up while the block lasts; yields what runs where."""
    order.logs.mkdir(mode=0o700, exist_ok=True)
    settings, grace_s = order.settings, order.settings.stop_grace_s
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(bind(settings.host, settings.port))
        url = settings.model_copy(update={"port": listener.getsockname()[1]}).served_url
        _require_servable(settings, url)
        log = order.logs / "aftermath.log"
        behind = await stack.enter_async_context(
            clean_up_behind(settings.data_dir, grace_s, order.lock, log)
        )
        database_url, is_ours = await _enter_database(stack, order, behind)
        slug = await _prepare(order, database_url, url)
        keeper = Keeper(order.clock, order.say, behind.watch, grace_s + KILL_AFTER_GRACE_S)
        server = _server(order, listener.fileno())
        await stack.enter_async_context(keeper.keeping([server]))
        await _require_ready(order.clock, listener.getsockname(), server)
        note = Note(os.getpid(), url, slug, owns_database=is_ours)
        write_note(settings.data_dir, note)
        await stack.enter_async_context(keeper.keeping(_consumers(order, url)))
        yield note


def _require_servable(settings: Settings, url: str) -> None:
    """Raise what the server would end with at each of its starts, however often it is tried."""
    ContentHosts.of(settings.content_domain, url)
    secrets_of(settings.named_secret_key, settings.data_dir)


async def _enter_database(stack: AsyncExitStack, order: Order, behind: Behind) -> tuple[str, bool]:
    """Return the database's url, and whether it is ours: one that runs already is not ours to stop.

    Unless it is left over from an `up` that owned it and was killed together with its aftermath.
    """
    data_dir = order.settings.data_dir
    stack.callback(remove_note, data_dir)
    named = order.settings.named_url
    if named is not None:
        write_note(data_dir, Note(os.getpid()))
        return named, False
    server, before = embedded_server(order.settings), read_note(data_dir)
    is_ours = await is_stopped(server) or (before is not None and before.owns_database)
    write_note(data_dir, Note(os.getpid(), owns_database=is_ours))
    if is_ours:
        behind.owns_database()
        await stack.enter_async_context(stopped_after(server))
    return await stack.enter_async_context(kept_up(server, order.clock, order.say)), is_ours


async def _prepare(order: Order, database_url: str, url: str) -> str:
    """Bring the schema up to date, make who and what is missing; return the saved project."""
    with plain_errors():
        await upgrade(database_url, order.clock)
    db = Database(database_url, pool_size=1, application="storyshelf up")
    try:
        await ensure_administrator(db)
        await require_somebody(db, order.settings.host)
        return await ensure_saved(db, Wanted(order.settings.data_dir, url, order.project))
    finally:
        await db.close()


async def _require_ready(clock: Clock, bound: tuple[str, int], server: Program) -> None:
    """Ask it where it listens, by a name that it always answers to."""
    host, port = bound[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    deadline_s = clock.monotonic() + READY_WITHIN_S
    named = {"Host": LOCALHOST}
    async with httpx.AsyncClient(
        base_url=url, headers=named, trust_env=False, timeout=ANSWER_S
    ) as http:
        while not await _is_ready(http):
            if clock.monotonic() > deadline_s:
                raise ServerNotReadyError(url, server.log)
            await clock.sleep(LOOK_S)


async def _is_ready(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/health/ready")).is_success
    except httpx.HTTPError:
        return False


def _server(order: Order, listener: int) -> Program:
    argv = (*PYTHON, "storyshelf.cli.main", "serve", "--listener", str(listener))
    log = order.logs / "server.log"
    return Program("server", argv, _environment(order), log, (listener,))


def _consumers(order: Order, url: str) -> list[Program]:
    return [_consumer(order, url, number) for number in range(1, order.settings.consumers + 1)]


def _consumer(order: Order, url: str, number: int) -> Program:
    """Return a consumer; what it delivers links to the server, whatever its port came to be."""
    name = f"consumer-{number}"
    environment = {**_environment(order), "STORYSHELF_PUBLIC_URL": url}
    if order.settings.health_port:
        environment["STORYSHELF_HEALTH_PORT"] = str(order.settings.health_port + number - 1)
    return Program(name, (*PYTHON, "consumer.main"), environment, order.logs / f"{name}.log")


def _environment(order: Order) -> Mapping[str, str]:
    """Return ours, with the folder that we found, and without the token of a client."""
    ours = {name: value for name, value in os.environ.items() if name != TOKEN}
    return ours | {"STORYSHELF_DATA_DIR": str(order.settings.data_dir)}
