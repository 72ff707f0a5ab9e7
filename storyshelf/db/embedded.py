"""The embedded server: its start, its stop, and where it answers.

All of it is below `<data>/pg`: `data-<major>` (the cluster), `<version>` (a copy of the programs,
made only if the server's user cannot reach the originals), a `.password` file for each role,
`port`, `start.log`, and `run.json`, which says where a running server answers. Nothing above
`<data>` is ever changed: a folder that others cannot enter is the operator's decision.

Everything here blocks. From a coroutine, call it through `asyncio.to_thread`.
"""

import asyncio
import fcntl
import json
import os
import shlex
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import asyncpg

from storyshelf.db.cluster import (
    ADMIN,
    Files,
    make_cluster,
    make_root,
    read_run_file,
    write_private,
)
from storyshelf.db.postgres_binaries import PostgresBinaries, find_binaries
from storyshelf.db.server_process import drop_stale_pid_file, live_pid
from storyshelf.db.server_user import ServerUser, run_as, server_user
from storyshelf.errors import StoryshelfError

HOST = "127.0.0.1"
OWNER = "storyshelf"  # the role the product works as, and its database: no superuser
CONNECT_TIMEOUT_S = 5
START_TIMEOUT_S = 60  # of one try; a crash recovery may take that long
STOP_TIMEOUT_S = 60
RETRY_S = 0.25
RETRIES = 120  # 30 s: how long a killed server's last processes may hold its files
PASSING = ("lock file", "shared memory block")  # what a start says while they do
PRODUCTION = {
    "max_connections": "200",  # a consumer keeps about ten, a server twice that
    "logging_collector": "on",
    "log_filename": "postgres-%a.log",  # a week, then the oldest is overwritten
    "log_truncate_on_rotation": "on",
    "log_rotation_size": "0",
    "cluster_name": "storyshelf",
}


class ServerNotStartedError(StoryshelfError):
    """The server did not come up."""

    http_status = 503

    def __init__(self, data: Path, said: str) -> None:
        super().__init__(
            "The embedded database did not start",
            where=str(data),
            next_step=f"PostgreSQL said: {said.strip() or 'nothing'}",
        )
        self.said = said


class ServerNotStoppedError(StoryshelfError):
    """The server is still there after the time a stop may take."""

    http_status = 503

    def __init__(self, data: Path, said: str) -> None:
        super().__init__(
            f"The embedded database did not stop within {STOP_TIMEOUT_S} s",
            where=str(data),
            next_step=f"pg_ctl said: {said.strip() or 'nothing'}",
        )


class ServerState(StrEnum):
    """What can be said of the server from outside."""

    RUNNING = "running"
    UNANSWERING = "unanswering"  # its process lives: it recovers from a crash, or hangs
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state, and what a person wants to know with it."""

    state: ServerState
    version: str
    data: Path
    pid: int | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """One server for one data folder; any number of processes may hold such an object."""

    data_dir: Path
    binaries: PostgresBinaries = field(default_factory=find_binaries)
    settings: Mapping[str, str] = field(default_factory=lambda: PRODUCTION)
    pause: Callable[[float], None] = time.sleep

    @property
    def files(self) -> Files:
        """Return where its files are."""
        return Files(self.data_dir / "pg", self.binaries.major)

    @property
    def user(self) -> ServerUser | None:
        """Return who runs it; None: whoever calls."""
        return server_user(self.files.data)

    @property
    def url(self) -> str:
        """Return the url of the product's own role and database."""
        return self._url(OWNER, OWNER)

    @property
    def admin_url(self) -> str:
        """Return the url of the superuser, who makes databases and reads every setting."""
        return self._url(ADMIN, ADMIN)

    def start(self) -> str:
        """Return the url of a server that answers, after starting one if none did."""
        user = self.user
        make_root(self.files.root, user)
        with self._alone():
            if not self._answers():
                self._start(user)
            asyncio.run(self._make_database())
            self._publish()
            return self.url

    def stop(self) -> None:
        """End the server: open transactions are rolled back, nothing committed is lost."""
        if not self.files.data.exists():
            return
        with self._alone():
            if live_pid(self.files.pid):
                self._stop()
            self.files.run.unlink(missing_ok=True)

    def status(self) -> ServerStatus:
        """Look at the pid file, the process and a real connection."""
        pid = live_pid(self.files.pid)
        about = (self.binaries.version, self.files.data)
        if pid is None:
            return ServerStatus(ServerState.STOPPED, *about)
        state = ServerState.RUNNING if self._answers() else ServerState.UNANSWERING
        return ServerStatus(state, *about, pid, self._port())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder's lock; it ends with the process, however that ends."""
        descriptor = os.open(self.files.lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _start(self, user: ServerUser | None) -> None:
        binaries = self._runnable(user)
        make_cluster(self.files, binaries, user)
        said = ""
        for _ in range(RETRIES):
            if live_pid(self.files.pid) is None:
                drop_stale_pid_file(self.files.pid)
            said = self._try_start(binaries, user)
            if self._answers():
                return
            if not any(sign in said for sign in PASSING):
                break
            self.pause(RETRY_S)
        raise ServerNotStartedError(self.files.data, said)

    def _try_start(self, binaries: PostgresBinaries, user: ServerUser | None) -> str:
        """Start it once; return what it said."""
        log = self.files.start_log
        write_private(log, "")
        if user:
            os.chown(log, user.uid, user.gid)
        options = {
            **self.settings,
            "listen_addresses": HOST,
            "port": str(self._free_port()),
            "unix_socket_directories": "",
        }
        run_as(
            user,
            [
                *(binaries.program("pg_ctl"), "start", "-D", str(self.files.data)),
                *("-w", "-t", str(START_TIMEOUT_S), "-l", str(log)),
                *("-o", " ".join(shlex.quote(f"--{k}={v}") for k, v in options.items())),
            ],
        )
        return log.read_text()

    def _stop(self) -> None:
        user = self.user
        program = self._runnable(user).program("pg_ctl")
        command = [program, "stop", "-D", str(self.files.data), "-w", "-t", str(STOP_TIMEOUT_S)]
        done = run_as(user, [*command, "-m", "fast"])
        if live_pid(self.files.pid):
            raise ServerNotStoppedError(self.files.data, done.stderr)

    def _runnable(self, user: ServerUser | None) -> PostgresBinaries:
        if self.binaries.run_for(user):
            return self.binaries
        return self.binaries.copied_to(self.files.root)

    def _free_port(self) -> int:
        """Return the saved port, or a new one if there is none or a stranger has taken it."""
        port = self._port()
        if port is None or not _is_free(port):
            port = _any_port()
            write_private(self.files.port, str(port))
        return port

    def _port(self) -> int | None:
        try:
            return int(self.files.port.read_text())
        except FileNotFoundError:
            return None

    def _url(self, role: str, database: str) -> str:
        password = self.files.password_of(role)
        return f"postgresql://{role}:{password}@{HOST}:{self._port()}/{database}"

    def _answers(self) -> bool:
        """Tell whether a server answers that is ours and serves this very folder."""
        if live_pid(self.files.pid) is None or self._port() is None:
            return False
        return asyncio.run(_serves(self.admin_url, self.files.data))

    async def _make_database(self) -> None:
        """Make role and database; set the password again, in case its file was lost."""
        connection = await asyncpg.connect(self.admin_url, timeout=CONNECT_TIMEOUT_S)
        try:
            known = await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", OWNER)
            verb = "ALTER" if known else "CREATE"
            await connection.execute(
                await connection.fetchval(
                    "SELECT format($1 || ' ROLE %I LOGIN PASSWORD %L', $2::text, $3::text)",
                    *(verb, OWNER, self.files.password_of(OWNER)),
                )
            )
            found = "SELECT 1 FROM pg_database WHERE datname = $1"
            if not await connection.fetchval(found, OWNER):
                await connection.execute(f"CREATE DATABASE {OWNER} OWNER {OWNER}")
        finally:
            await connection.close()

    def _publish(self) -> None:
        said = {"url": self.url, "pid": live_pid(self.files.pid), "version": self.binaries.version}
        if said != read_run_file(self.files.run):
            write_private(self.files.run, json.dumps(said, indent=1))


async def _serves(url: str, data: Path) -> bool:
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
    try:
        return Path(await connection.fetchval("SHOW data_directory")) == data
    finally:
        await connection.close()


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex((HOST, port)) != 0


def _any_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
