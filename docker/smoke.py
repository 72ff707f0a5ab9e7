"""The images at work: doctor in each, then an upload through `server` and a capture in `consumer`.

They share what compose.yaml has them share, a PostgreSQL and a folder of blobs that belongs to
neither root nor this user, and meet on ports of this machine's loopback.
"""

import json
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from docker.container import Container
from docker.engines import Engine, Runnable
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.server_connection import any_free_port
from storyshelf.errors import StoryshelfError
from tests.storybook_builds import build_example

OWNER = 10_001  # of the blobs, in both images
BLOBS = "/var/lib/storyshelf/blobs"
BUNDLE = "/bundle"
READY_S = 90.0
LOOK_EVERY_S = 0.5
STOP_S = 60.0
VERDICT_S = "600"
SAID_CHARACTERS = 4000


class SmokeError(StoryshelfError):
    """An image does not do what it is for."""

    def __init__(self, what: str, said: str) -> None:
        super().__init__(
            f"{what}:\n{said.strip()[-SAID_CHARACTERS:]}\n",
            next_step="Mend the image, and run `make images` again.",
        )


@dataclass(frozen=True, slots=True)
class Service:
    """A container that runs until it is told to stop, its words in a file."""

    process: subprocess.Popen[bytes]
    runnable: Runnable
    log: Path

    @property
    def words(self) -> str:
        """Return what it said until now."""
        return self.log.read_text(errors="replace")

    def stop(self) -> None:
        """End it politely; raises SmokeError if it does not end."""
        self.runnable.stop()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            raise SmokeError(f"it did not end within {STOP_S:g} s", self.words) from error


@dataclass
class Smoke:
    """One try of both images in a folder of its own."""

    engine: Engine
    folder: Path
    database_url: str
    token: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(32))
    server_port: int = field(default_factory=any_free_port)
    health_port: int = field(default_factory=any_free_port)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return what compose.yaml gives, with the loopback of this machine for its network."""
        return {
            "STORYSHELF_DATABASE_URL": self.database_url,
            "STORYSHELF_SECRET_KEY": self.key,
            "STORYSHELF_HOST": "127.0.0.1",
            "STORYSHELF_PORT": str(self.server_port),
            "STORYSHELF_HEALTH_PORT": str(self.health_port),
            "STORYSHELF_URL": f"http://127.0.0.1:{self.server_port}",
            "STORYSHELF_PROJECT_TOKEN": self.token,
        }

    def run_all(self) -> Iterator[str]:
        """Do one step after the other, and yield what to print of each; raises SmokeError."""
        yield from self._migrate()
        yield from self._doctor_in_server()
        yield from self._doctor_in_consumer()
        yield from self._add_first_user()
        self.token = self._make_project()
        with self._service("server"), self._service("consumer"):
            yield from self._wait_until_healthy()
            yield from self._publish("first build")
            yield from self._publish("the same again")
        yield "both ended when they were told to"

    def _migrate(self) -> Iterator[str]:
        done = self._say("server", "migrate")
        _require(done, "`migrate` in the server image failed")
        yield "server: " + done.stdout.strip().splitlines()[-1]

    def _doctor_in_server(self) -> Iterator[str]:
        done = self._say("server", "doctor", "--server")
        yield from (f"server: {line}" for line in done.stdout.splitlines())
        _require(done, "`doctor` in the server image found what must be mended")

    def _doctor_in_consumer(self) -> Iterator[str]:
        done = self._say("consumer", "storyshelf", "doctor")
        yield from (f"consumer: {line}" for line in done.stdout.splitlines())
        _require(done, "`storyshelf doctor` in the consumer image found what must be mended")
        if "strong form" not in done.stdout:
            raise SmokeError("the consumer image cannot give browsers uids", done.stdout)

    def _add_first_user(self) -> Iterator[str]:
        """Do what compose.yaml asks of whoever starts it for the first time."""
        add = ("user", "add", "admin@example.com", "--admin", "--password-stdin")
        done = self._say("server", *add, stdin=secrets.token_urlsafe() + "\n")
        _require(done, "the first user could not be made")
        yield "server: " + done.stdout.strip().splitlines()[0]

    def _make_project(self) -> str:
        done = self._say("server", "project", "create", "smoke", "--json")
        _require(done, "no project could be made")
        return str(json.loads(done.stdout)["token"])

    def _wait_until_healthy(self) -> Iterator[str]:
        """Ask as an engine would: by the command of each image's HEALTHCHECK."""
        for target in ("server", "consumer"):
            command = self.engine.healthcheck(target)
            began = time.monotonic()
            while self._say(target, entry_point=command).returncode != 0:
                if time.monotonic() - began > READY_S:
                    raise SmokeError(f"{target} did not become healthy", self._log(target))
                time.sleep(LOOK_EVERY_S)
            yield f"{target}: healthy by its HEALTHCHECK"

    def _publish(self, what: str) -> Iterator[str]:
        mounts = {build_example(): f"{BUNDLE}:ro"}
        named = ("--branch", "main", "--commit", secrets.token_hex(20), "--timeout", VERDICT_S)
        began = time.monotonic()
        done = self._say("server", "publish", BUNDLE, *named, "--json", mounts=mounts)
        logs = self._log("server") + self._log("consumer")
        _require(done, f"{what}: the verdict is not 0", logs)
        build = json.loads(done.stdout)["build"]
        took_s = time.monotonic() - began
        counts = ", ".join(f"{count} {name}" for name, count in build["counts"].items() if count)
        yield f"{what}: {build['state']} ({counts}), {took_s:.1f} s from upload to verdict"

    @contextmanager
    def _service(self, target: str) -> Iterator[Service]:
        log = self.folder / f"{target}.log"
        with ExitStack() as stack:
            runnable = stack.enter_context(self.engine.runnable(self._container(target)))
            out = stack.enter_context(log.open("wb"))
            process = subprocess.Popen(
                runnable.command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )
            service = Service(process, runnable, log)
            stack.callback(_end, service)
            yield service
            service.stop()
            if process.returncode != 0:
                raise SmokeError(f"{target} ended with {process.returncode}", service.words)

    def _say(
        self,
        target: str,
        *arguments: str,
        entry_point: tuple[str, ...] | None = None,
        mounts: Mapping[Path, str] | None = None,
        stdin: str = "",
    ) -> subprocess.CompletedProcess[str]:
        container = self._container(target, arguments, entry_point, mounts or {})
        with self.engine.runnable(container) as runnable:
            return subprocess.run(
                runnable.command, input=stdin, capture_output=True, text=True, check=False
            )

    def _container(
        self,
        target: str,
        arguments: Sequence[str] = (),
        entry_point: tuple[str, ...] | None = None,
        mounts: Mapping[Path, str] | None = None,
    ) -> Container:
        return Container(
            name=f"storyshelf-smoke-{target}-{secrets.token_hex(4)}",
            target=target,
            arguments=tuple(arguments),
            environment=self.environment,
            mounts={self.folder / "blobs": BLOBS, **(mounts or {})},
            entry_point=entry_point,
        )

    def _log(self, target: str) -> str:
        path = self.folder / f"{target}.log"
        return path.read_text(errors="replace") if path.exists() else ""


@contextmanager
def smoke(engine: Engine, folder: Path) -> Iterator[Smoke]:
    """Start a PostgreSQL of this machine for one try, and end it."""
    blobs = folder / "blobs"
    blobs.mkdir(mode=0o700)
    os.chown(blobs, OWNER, OWNER)
    postgres = EmbeddedPostgres(folder / "database")
    url = postgres.start()
    try:
        yield Smoke(engine, folder, url)
    finally:
        postgres.stop()


def _require(done: subprocess.CompletedProcess[str], what: str, logs: str = "") -> None:
    if done.returncode != 0:
        raise SmokeError(f"{what} (exit {done.returncode})", logs + done.stdout + done.stderr)


def _end(service: Service) -> None:
    if service.process.poll() is None:
        service.stop()
