"""Who runs the embedded server: PostgreSQL refuses to run as root."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from storyshelf.errors import StoryshelfError

OWN_NAME = "storyshelf"
OTHER_NAMES = ("postgres", "nobody")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",  # messages are read by this program, so they must be English
    "TZ": "UTC",
}

log = structlog.get_logger(__name__)


class NoServerUserError(StoryshelfError):
    """Root found nobody to hand the server to."""

    http_status = 503

    def __init__(self) -> None:
        super().__init__(
            "PostgreSQL refuses to run as root, and there is no other user to run it",
            where=f"looked for {OWN_NAME}, {', '.join(OTHER_NAMES)}",
            next_step=(
                f"Make one with `useradd --system {OWN_NAME}`, or set STORYSHELF_DATABASE_URL."
            ),
        )


class NamelessUserError(StoryshelfError):
    """PostgreSQL looks its user up and refuses one it cannot find."""

    http_status = 503

    def __init__(self, uid: int) -> None:
        super().__init__(
            f"User id {uid} has no name, and PostgreSQL refuses to run without one",
            where="/etc/passwd",
            next_step="Run as a user that has an entry there, or set STORYSHELF_DATABASE_URL.",
        )


@dataclass(frozen=True, slots=True)
class ServerUser:
    """A system user that root hands the server's processes and folders to."""

    name: str
    uid: int
    gid: int


def server_user(owner_of: Path) -> ServerUser | None:
    """Return who must run the server, None meaning the caller itself.

    A data folder that exists stays with its owner: the choice was made when it was created.
    """
    if os.geteuid() != 0:
        require_name(os.geteuid())
        return None
    if owner_of.exists():
        return user_of(pwd.getpwuid(owner_of.stat().st_uid))
    return choose_user(existing_user, make_user)


def choose_user(
    existing: Callable[[str], ServerUser | None], make: Callable[[str], ServerUser | None]
) -> ServerUser:
    """Choose the project's own user, made if it can be, else one that most systems have."""
    chosen = existing(OWN_NAME) or make(OWN_NAME)
    for name in OTHER_NAMES:
        chosen = chosen or existing(name)
    if chosen is None:
        raise NoServerUserError
    if chosen.name == "nobody":
        log.warning("postgres.runs_as_nobody", cure=f"useradd --system {OWN_NAME}")
    return chosen


def existing_user(name: str) -> ServerUser | None:
    """Return the system user of that name."""
    try:
        return user_of(pwd.getpwnam(name))
    except KeyError:
        return None


def make_user(name: str) -> ServerUser | None:
    """Return a new system user without home or shell; None where none can be made."""
    program = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin")
    if program is None:
        return None
    options = ["--system", "--user-group", "--no-create-home"]
    places = ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin"]
    subprocess.run([program, *options, *places, name], capture_output=True, check=False)
    return existing_user(name)  # also when another process made it at the same moment


def user_of(entry: pwd.struct_passwd) -> ServerUser:
    """Return the user of a line of /etc/passwd."""
    return ServerUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def require_name(uid: int) -> None:
    """Raise if that user id has no name."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        raise NamelessUserError(uid) from None


def run_as(
    user: ServerUser | None, command: Sequence[str], *, timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a program as that user, in a bare environment and in a folder anyone may enter."""
    return subprocess.run(
        command,
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=[] if user else None,
        cwd="/",
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
