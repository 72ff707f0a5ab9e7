"""The folder that is captured to: ours or empty, and only what we wrote is ever removed."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consumer.local.refusing import CannotCaptureError

MARK = ".storyshelf-capture"
PART = ".part"  # of a file that is being written


class NotOurFolderError(CannotCaptureError):
    """There is something in the folder that no capture put there."""

    def __init__(self, folder: Path, found: str) -> None:
        super().__init__(
            f"The folder holds what no capture wrote: {found!r}",
            where=str(folder),
            next_step="Name another folder with --out, or move that out of it.",
        )


class FolderInUseError(CannotCaptureError):
    """Another capture is writing into it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "Another capture is writing into this folder",
            where=str(folder),
            next_step="Wait for it, or name another folder with --out.",
        )


class UnusableFolderError(CannotCaptureError):
    """The folder cannot be made or written."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(
            f"The folder cannot be used: {problem}",
            where=str(folder),
            next_step="Name another folder with --out.",
        )


class OutFolder:
    """Writes files whole or not at all, and notes their names before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._noted: set[str] = set()

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or replace one of ours; raises UnusableFolderError if there is no room."""
        assert Path(name).name == name, "names are made by `names`, and are no paths"
        try:
            if name not in self._noted:
                with (self.folder / MARK).open("a", encoding="utf-8") as mark:
                    mark.write(f"{name}\n")
                self._noted.add(name)
            part = self.folder / (name + PART)
            part.write_bytes(content)
            part.replace(self.folder / name)
        except OSError as error:
            raise UnusableFolderError(self.folder, error.strerror or str(error)) from error

    def read(self, name: str) -> bytes:
        """Return what was written."""
        return (self.folder / name).read_bytes()


@contextmanager
def open_out(folder: Path, storybook: Path) -> Iterator[OutFolder]:
    """Take the folder: made if it is not there, emptied if it is ours, refused otherwise.

    Raises NotOurFolderError, FolderInUseError, UnusableFolderError.
    """
    if folder.resolve().is_relative_to(storybook.resolve()):
        raise UnusableFolderError(folder, "it is inside the Storybook, and would become part of it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_if_foreign(folder)
        # Nobody is led elsewhere by a link that lies where the mark should.
        held = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise UnusableFolderError(folder, error.strerror or str(error)) from error
    with os.fdopen(held, "r+", encoding="utf-8", errors="surrogateescape") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(folder) from None
        _empty(folder)
        mark.truncate(0)
        yield OutFolder(folder)


def _refuse_if_foreign(folder: Path) -> None:
    found = sorted(path.name for path in folder.iterdir())
    ours = _ours(folder)
    foreign = next((name for name in found if name not in ours), None)
    if foreign is not None:
        raise NotOurFolderError(folder, foreign)


def _ours(folder: Path) -> frozenset[str]:
    """Return the names a capture noted here, its own mark among them."""
    mark = folder / MARK
    if mark.is_symlink() or not mark.is_file():
        return frozenset()
    names = mark.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return frozenset({MARK, *names, *(name + PART for name in names)})


def _empty(folder: Path) -> None:
    for name in sorted(_ours(folder) - {MARK}):
        path = folder / name
        if path.parent == folder:  # a mark that somebody wrote into leads nowhere else
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UnusableFolderError(folder, f"{name}: {error.strerror}") from error
