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
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from storyshelf.db.cluster import (
    ADMIN,
    Files,
    make_cluster,
    make_root,
    read_run_file,
    write_private,
)
from storyshelf.db.postgres_binaries import PostgresBinaries, find_binaries
from storyshelf.db.server_connection import (
    HOST,
    any_free_port,
    is_free,
    make_database,
    served_folder,
)
from storyshelf.db.server_process import drop_stale_pid_file, live_pid
from storyshelf.db.server_user import ServerUser, run_as, server_user
from storyshelf.errors import StoryshelfError

OWNER = "storyshelf"  # the role the product works as, and its database: no superuser
START_TIMEOUT_S = 60  # of one try; a crash recovery may take that long
STOP_TIMEOUT_S = 60
RETRY_S = 0.25
RETRIES = 120  # 30 s: how long a killed server's last processes may hold its files
LOG_TAIL = 10  # lines of it in an error
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
        return Files(self.data_dir.absolute() / "pg", self.binaries.major)

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
            if not self._answers(user):
                self._start(user)
            password = self.files.password_of(OWNER)
            asyncio.run(make_database(self.admin_url, OWNER, password))
            self._publish(user)
            return self.url

    def stop(self) -> None:
        """End the server: open transactions are rolled back, nothing committed is lost."""
        if not self.files.data.exists():
            return
        user = self.user
        with self._alone():
            if live_pid(self.files.pid, user):
                self._stop(user)
            self.files.run.unlink(missing_ok=True)

    def status(self) -> ServerStatus:
        """Look at the pid file, the process and a real connection."""
        about = (self.binaries.version, self.files.data)
        user = self.user if self.files.data.exists() else None
        pid = live_pid(self.files.pid, user)
        if pid is None:
            return ServerStatus(ServerState.STOPPED, *about)
        state = ServerState.RUNNING if self._answers(user) else ServerState.UNANSWERING
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
        for _ in range(RETRIES):
            drop_stale_pid_file(self.files.pid, user)
            port = self._free_port()
            self._try_start(binaries, user, port)
            if self._answers(user):
                return
            if is_free(port) and not any(sign in self._start_log() for sign in PASSING):
                break  # neither a dying predecessor nor a stranger on the port: it stays so
            self.pause(RETRY_S)
        raise ServerNotStartedError(self.files.data, self._start_log() + self._log_tail())

    def _try_start(self, binaries: PostgresBinaries, user: ServerUser | None, port: int) -> None:
        log = self.files.start_log
        write_private(log, "")
        if user:
            os.chown(log, user.uid, user.gid)
        place = {"listen_addresses": HOST, "port": str(port), "unix_socket_directories": ""}
        options = [f"--{name}={value}" for name, value in {**self.settings, **place}.items()]
        run_as(
            user,
            [
                *(binaries.program("pg_ctl"), "start", "-D", str(self.files.data)),
                *("-w", "-t", str(START_TIMEOUT_S), "-l", str(log), "-o", shlex.join(options)),
            ],
        )

    def _stop(self, user: ServerUser | None) -> None:
        program = self._runnable(user).program("pg_ctl")
        command = [program, "stop", "-D", str(self.files.data), "-w", "-t", str(STOP_TIMEOUT_S)]
        done = run_as(user, [*command, "-m", "fast"])
        if live_pid(self.files.pid, user):
            raise ServerNotStoppedError(self.files.data, done.stderr)

    def _runnable(self, user: ServerUser | None) -> PostgresBinaries:
        if self.binaries.run_for(user):
            return self.binaries
        return self.binaries.copied_to(self.files.root)

    def _answers(self, user: ServerUser | None) -> bool:
        """Tell whether a server answers that is ours and serves this very folder."""
        if live_pid(self.files.pid, user) is None or self._port() is None:
            return False
        served = asyncio.run(served_folder(self.admin_url))
        return served is not None and Path(served).samefile(self.files.data)

    def _free_port(self) -> int:
        """Return the saved port, or a new one if there is none or a stranger has taken it."""
        port = self._port()
        if port is None or not is_free(port):
            port = any_free_port()
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

    def _publish(self, user: ServerUser | None) -> None:
        pid = live_pid(self.files.pid, user)
        said = {"url": self.url, "pid": pid, "version": self.binaries.version}
        if said != read_run_file(self.files.run):
            write_private(self.files.run, json.dumps(said, indent=1))

    def _start_log(self) -> str:
        return self.files.start_log.read_text()

    def _log_tail(self) -> str:
        """Return the end of the log that the server itself keeps, once it has got that far."""
        kept = (self.files.data / "log").glob("*.log")
        newest = max(kept, key=lambda path: path.stat().st_mtime, default=None)
        lines = newest.read_text(errors="replace").splitlines() if newest else []
        return "\n".join(lines[-LOG_TAIL:])
