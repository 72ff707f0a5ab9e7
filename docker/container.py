"""One container: what it is given, and the command lines that come of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SECCOMP = REPOSITORY / "docker" / "seccomp.json"
# What compose.yaml gives a container of each image; a test holds the two together.
CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "server": (),
    "consumer": ("SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE"),
}
MARK = "STORYSHELF_CONTAINER"  # by it a process of the container is known from outside


@dataclass(frozen=True, slots=True)
class Container:
    """An image, what stands after its entry point, and what it is given."""

    name: str
    target: str
    arguments: tuple[str, ...] = ()  # none: the image's own command
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[Path, str] = field(default_factory=dict)
    entry_point: tuple[str, ...] | None = None  # none: the image's own


def tag(target: str) -> str:
    """Return the name of the image, the one that compose.yaml looks for."""
    return f"storyshelf-{target}"


def docker_arguments(wanted: Container) -> list[str]:
    """Return the arguments of `docker` that run it in this machine's network."""
    entry: tuple[str, ...] = ()
    arguments = wanted.arguments
    if wanted.entry_point is not None:
        entry = (f"--entrypoint={wanted.entry_point[0]}",)
        arguments = (*wanted.entry_point[1:], *arguments)
    security = ["--security-opt=no-new-privileges:true"]
    if wanted.target == "consumer":
        security.append(f"--security-opt=seccomp={SECCOMP}")
    return [
        *("run", "--rm", "--interactive", f"--name={wanted.name}"),
        *("--network=host", "--shm-size=1g"),
        *("--cap-drop=ALL", *(f"--cap-add={each}" for each in CAPABILITIES[wanted.target])),
        *security,
        *_given(wanted),
        *entry,
        tag(wanted.target),
        *arguments,
    ]


def buildah_from_arguments(wanted: Container) -> list[str]:
    """Return the arguments of `buildah` that make it; it prints the name it gives it."""
    kept = (f"--cap-add={each}" for each in CAPABILITIES[wanted.target])
    seccomp = [f"--security-opt=seccomp={SECCOMP}"] if wanted.target == "consumer" else []
    return ["from", "--pull-never", "--cap-drop=all", *kept, *seccomp, tag(wanted.target)]


def buildah_run_arguments(wanted: Container, made: str, image: Mapping[str, Any]) -> list[str]:
    """Return the arguments of `buildah` that run it; buildah itself passes entry points over."""
    entry = wanted.entry_point
    program = [
        *(image.get("Entrypoint") or () if entry is None else entry),
        *(wanted.arguments or (image.get("Cmd") or () if entry is None else ())),
    ]
    how = ("--isolation", "chroot", "--env=TINI_SUBREAPER=1")  # it is not the first process there
    return ["run", *how, *_given(wanted), made, "--", *program]


def _given(wanted: Container) -> Sequence[str]:
    environment = {**wanted.environment, MARK: wanted.name}
    return (
        *(f"--env={name}={value}" for name, value in sorted(environment.items())),
        *(f"--volume={here}:{there}" for here, there in wanted.mounts.items()),
    )
