"""The product as processes: a server and consumers on one database, driven from outside."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from tests.db.server import from_sync

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_S = 150.0  # for a fact to come true on a machine that two other suites are using
LOOK_EVERY_S = 0.1
OUTAGE_S = 30.0
NOT_INHERITED = ("STORYSHELF_", "PYTHONPATH")  # what a developer's shell may have set
LEASE_S = 8  # a dead consumer's jobs come back in seconds; production's is a minute


@dataclass
class Started:
    """One process of the product, its words in a file."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def words(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@dataclass(frozen=True, slots=True)
class Programs:
    """What is run: this clone's modules, or the console scripts of an installation."""

    storyshelf: Sequence[str] = (sys.executable, "-m", "storyshelf.cli.main")
    consumer: Sequence[str] = (sys.executable, "-m", "consumer.main")
    environment: Mapping[str, str] = field(default_factory=lambda: {"PYTHONPATH": str(REPOSITORY)})


def installed_in(venv: Path) -> Programs:
    """Return the programs of a venv, which know nothing of this clone."""
    scripts = venv / "bin"
    return Programs((str(scripts / "storyshelf"),), (str(scripts / "storyshelf-consumer"),), {})


@dataclass
class Product:
    """Everything one test runs, in a folder of its own."""

    folder: Path
    database_url: str
    settings: Mapping[str, str] = field(default_factory=dict)
    programs: Programs = field(default_factory=Programs)
    started: list[Started] = field(default_factory=list)
    url: str = ""
    token: str = ""

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_INHERITED)}
        return kept | {
            "STORYSHELF_DATABASE_URL": self.database_url,
            "STORYSHELF_DATA_DIR": str(self.folder),
            "STORYSHELF_PORT": "0",
            "STORYSHELF_LEASE_S": str(LEASE_S),
            **self.programs.environment,
            **self.settings,
        }

    def start(self, *command: str, **settings: str) -> Started:
        log = self.folder / f"{len(self.started)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                env=self.environment | settings,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
            )
        started = Started(process, log)
        self.started.append(started)
        return started

    def serve(self) -> Started:
        server = self.start(*self.programs.storyshelf, "serve")
        line = wait_for(lambda: _line_with("http://", server), server)
        self.url = "http://" + line.split("http://", 1)[1].split()[0].rstrip("./")
        return server

    def consume(self, **settings: str) -> Started:
        consumer = self.start(*self.programs.consumer, **settings)
        wait_for(lambda: "consumer.started" in consumer.words, consumer)
        return consumer

    def consume_until(self, place: str, nth: str, *command: str, **settings: str) -> Started:
        """Start a consumer that is cut off at that place: by signal 9, or by the command."""
        failing = (sys.executable, "-m", "tests.flow.failing_consumer")
        return self.start(*failing, place, nth, *command, **settings)

    def cli(
        self, *args: str, typed: str | None = None, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        mine = {"STORYSHELF_URL": self.url, "STORYSHELF_PROJECT_TOKEN": self.token}
        return subprocess.run(
            [*self.programs.storyshelf, *args],
            env=self.environment | mine | settings,
            input=typed,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            cwd=self.folder,
        )

    def make_project(self, slug: str) -> str:
        done = self.cli("project", "create", slug, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        self.token = str(json.loads(done.stdout)["token"])
        return self.token

    def publish(self, bundle: Path, commit: str, branch: str = "main") -> "Published":
        done = self.cli("publish", str(bundle), "--commit", commit, "--branch", branch, "--json")
        assert done.stdout.startswith("{"), done.stdout + done.stderr
        return Published(done.returncode, json.loads(done.stdout), done.stderr)

    def upload(self, bundle: Path, commit: str, branch: str = "main") -> int:
        done = self.cli("upload", str(bundle), "--commit", commit, "--branch", branch, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return int(json.loads(done.stdout)["build"]["number"])

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Read the database; a test may have stopped it for a moment."""

        async def read() -> list[dict[str, Any]]:
            connection = await asyncpg.connect(self.database_url, ssl=False)
            try:
                return [dict(row) for row in await connection.fetch(query, *values)]
            finally:
                await connection.close()

        deadline = time.monotonic() + OUTAGE_S
        while True:
            try:
                return from_sync(read())
            except (OSError, asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(LOOK_EVERY_S)

    def state_of(self, number: int) -> str:
        (row,) = self.rows("SELECT state FROM builds WHERE number = $1", number)
        return str(row["state"])

    def wait_until_ended(self, number: int) -> str:
        query = "SELECT state FROM builds WHERE number = $1 AND ended_at IS NOT NULL"
        wait_for(lambda: self.rows(query, number), *self.started)
        return self.state_of(number)

    def end(self) -> None:
        for each in reversed(self.started):
            if each.process.poll() is None:
                each.process.send_signal(signal.SIGTERM)
        for each in reversed(self.started):
            try:
                each.process.wait(timeout=45)
            except subprocess.TimeoutExpired:
                each.kill()


@dataclass(frozen=True, slots=True)
class Published:
    """What `storyshelf DIR --json` left with and printed."""

    exit_code: int
    document: Mapping[str, Any]
    stderr: str


def wait_for(fact: Callable[[], Any], *needed: Started) -> Any:
    """Return the fact once it is true; fail with the logs if it does not come true in time."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := fact():
            return found
        for each in needed:
            gone = each.process.poll()
            assert gone in (None, 0, -signal.SIGKILL), f"exit {gone}:\n{each.words[-6000:]}"
        time.sleep(LOOK_EVERY_S)
    words = "\n---\n".join(each.words[-4000:] for each in needed)
    raise AssertionError(f"it did not come true in {PATIENCE_S:g} s:\n{words}")


def _line_with(text: str, started: Started) -> str:
    return next((line for line in started.words.splitlines() if text in line), "")


def once_each(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether no story stands there twice."""
    keys = [(row["story_id"], row["mode"]) for row in rows]
    return len(keys) == len(set(keys))
