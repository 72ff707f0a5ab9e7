"""What builds and runs the images: a Docker engine, or buildah where none answers.

buildah runs them by chroot: with the image's own entry point and user, with the capabilities and
the seccomp profile of compose.yaml, but in this machine's network and among its processes. Docker
is told to use this machine's network too, so that both are driven alike.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from docker.base import need_base
from docker.commands import CommandFailedError, ask, succeeds
from docker.container import (
    MARK,
    REPOSITORY,
    Container,
    buildah_from_arguments,
    buildah_run_arguments,
    docker_arguments,
    tag,
)
from docker.trust import mounted_in_builds
from storyshelf.errors import StoryshelfError

DOCKERFILE = REPOSITORY / "docker" / "Dockerfile"
ANSWER_S = 20.0
NO_SANDBOX = "The kernel makes no user namespace in a chroot: Chromium's sandbox stays off here"


class NoEngineError(StoryshelfError):
    """Nothing here can build an image."""

    def __init__(self, lacking: str) -> None:
        super().__init__(
            f"no image can be built here: no Docker engine answers, and {lacking}",
            next_step="This mends it, as root: apt-get install -y buildah debootstrap",
        )


@dataclass(frozen=True, slots=True)
class Runnable:
    """The command line that runs a container in the foreground, and what ends it politely."""

    command: Sequence[str]
    stop: Callable[[], None]


class Engine(Protocol):
    """Builds the targets of the Dockerfile and runs what came of it."""

    def describe(self) -> str:
        """Say what it is, in a few words."""
        ...

    def build(self, target: str, log: Path) -> None:
        """Build one target; what is said goes to the log."""
        ...

    def size(self, target: str) -> str:
        """Return how much disk the image takes with all its layers."""
        ...

    def healthcheck(self, target: str) -> tuple[str, ...]:
        """Return the command of the image's HEALTHCHECK."""
        ...

    def runnable(self, wanted: Container) -> AbstractContextManager[Runnable]:
        """Yield the Runnable of a container, as a context; nothing of it is left afterwards."""
        ...


@contextmanager
def chosen_engine(storage: Path, folder: Path) -> Iterator[Engine]:
    """Yield the engine that this machine has; buildah keeps its images in `storage`."""
    if succeeds(["docker", "info"], ANSWER_S):
        yield Docker()
        return
    if shutil.which("buildah") is None:
        raise NoEngineError("buildah is missing")
    if os.geteuid() != 0:
        raise NoEngineError("buildah with a base of its own needs root")
    engine = Buildah(storage, folder)
    try:
        yield engine
    finally:
        engine.unmount()


@dataclass(frozen=True, slots=True)
class Docker:
    """An engine that answers."""

    def describe(self) -> str:
        """See Engine."""
        return "Docker"

    def build(self, target: str, log: Path) -> None:
        """See Engine."""
        _logged(log, "docker", "build", *_what(target), str(REPOSITORY))

    def size(self, target: str) -> str:
        """See Engine."""
        return ask("docker", "image", "ls", "--format", "{{.Size}}", tag(target)).strip()

    def healthcheck(self, target: str) -> tuple[str, ...]:
        """See Engine."""
        (found,) = json.loads(ask("docker", "image", "inspect", tag(target)))
        return tuple(found["Config"]["Healthcheck"]["Test"][1:])

    @contextmanager
    def runnable(self, wanted: Container) -> Iterator[Runnable]:
        """See Engine."""
        stop = ("docker", "stop", "--time", "45", wanted.name)
        try:
            yield Runnable(("docker", *docker_arguments(wanted)), lambda: _quietly(*stop))
        finally:
            _quietly("docker", "rm", "--force", wanted.name)


@dataclass(frozen=True, slots=True)
class Buildah:
    """buildah with images and containers in a storage of its own."""

    storage: Path
    folder: Path  # for what is mounted while an image is built, and for what ends with us

    @property
    def program(self) -> tuple[str, ...]:
        """The beginning of every command line."""
        return ("buildah", "--root", str(self.storage), "--runroot", str(self.folder / "run"))

    def describe(self) -> str:
        """See Engine; the base image is fetched or made by the way."""
        version = ask("buildah", "--version").split()[2]
        base = need_base(self.program, self.folder)
        return f"buildah {version}; the base image {base}. {NO_SANDBOX}"

    def build(self, target: str, log: Path) -> None:
        """See Engine."""
        mounts = mounted_in_builds(self.folder).items()
        how = ("--isolation", "chroot", "--format", "docker", "--layers", "--pull-never")
        volumes = (f"--volume={here}:{there}:ro" for here, there in mounts)
        _logged(log, *self.program, "build", *how, *volumes, *_what(target), str(REPOSITORY))

    def size(self, target: str) -> str:
        """See Engine."""
        return ask(*self.program, "images", "--format", "{{.Size}}", tag(target)).strip()

    def healthcheck(self, target: str) -> tuple[str, ...]:
        """See Engine."""
        return tuple(self._config(target)["Healthcheck"]["Test"][1:])

    @contextmanager
    def runnable(self, wanted: Container) -> Iterator[Runnable]:
        """See Engine."""
        made = ask(*self.program, *buildah_from_arguments(wanted)).strip()
        arguments = buildah_run_arguments(wanted, made, self._config(wanted.target))
        try:
            yield Runnable((*self.program, *arguments), lambda: _terminate(wanted.name))
        finally:
            ask(*self.program, "rm", made)

    def unmount(self) -> None:
        """Remove the containers; the images stay in the storage."""
        ask(*self.program, "rm", "--all")

    def _config(self, target: str) -> Mapping[str, Any]:
        said = ask(*self.program, "inspect", "--type", "image", tag(target))
        config: Mapping[str, Any] = json.loads(said)["Docker"]["config"]
        return config


def _what(target: str) -> tuple[str, ...]:
    revision = ask("git", "-C", str(REPOSITORY), "rev-parse", "HEAD").strip()
    named = ("--file", str(DOCKERFILE), "--target", target, "--tag", tag(target))
    return (*named, "--build-arg", f"REVISION={revision}")


def _logged(log: Path, *command: str) -> None:
    with log.open("w") as words:
        done = subprocess.run(command, stdout=words, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise CommandFailedError(command, log.read_text(errors="replace"))


def _quietly(*command: str) -> None:
    subprocess.run(command, capture_output=True, check=False)


def _terminate(name: str) -> None:
    """Ask the first process of a container that shares our process table to end."""
    mark = f"{MARK}={name}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_first = (folder / "comm").read_text() == "tini\n"
            if is_first and mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGTERM)
        except OSError:  # it ended while we looked
            continue
