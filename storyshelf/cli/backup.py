"""`storyshelf backup` and `storyshelf restore`: everything of the embedded form in one file."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from storyshelf.cli.database import embedded_server, opened_database, url_in_use
from storyshelf.cli.up_note import alone
from storyshelf.client.exit_codes import InvalidOptionsError
from storyshelf.client.steps import size_words
from storyshelf.clock import SystemClock
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.errors import ConflictError, NotFoundError
from storyshelf.operations.archive import new_private
from storyshelf.operations.backup import Saved, Source, back_up
from storyshelf.operations.restore import Restored, require_empty
from storyshelf.operations.restore import restore as restore_into
from storyshelf.settings import Settings, read_settings

STANDARD = "-"
TOLD_EVERY = 5_000  # blobs
INCOMPLETE = 1

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="The backup; -: a pipe.")]


class NamedDatabaseError(InvalidOptionsError):
    """Whoever runs the database saves it by its own means."""

    def __init__(self, next_step: str) -> None:
        super().__init__(
            "STORYSHELF_DATABASE_URL names the database, which this command leaves alone",
            where="STORYSHELF_DATABASE_URL",
            next_step=next_step,
        )


class RunningError(ConflictError):
    """Somebody works on the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "storyshelf is running on this data folder",
            where=str(folder),
            next_step="Stop it, or set STORYSHELF_DATA_DIR to a new folder.",
        )


class NoBackupError(NotFoundError):
    """The file cannot be opened."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(
            f"The backup cannot be opened: {reason}", where=file, next_step="Check its name."
        )


def backup(
    file: FileArgument,
    *,
    blobs_only: Annotated[
        bool,
        typer.Option("--blobs-only", help="Leave the database out: pg_dump has saved it before."),
    ] = False,
) -> None:
    """Save database, files and keys to one file, while everything goes on running.

    Whoever has the file can read all of it, the stored tokens of forges too. Exit code 1: some
    files were gone or damaged, and are not in it.
    """
    settings = read_settings()
    if settings.named_url is not None and not blobs_only:
        step = "Save it with `pg_dump`, and then its files with `storyshelf backup --blobs-only`."
        raise NamedDatabaseError(step)
    with _target(file) as out:
        saved = asyncio.run(_saved(settings, out, blobs_only=blobs_only))
    sums = saved.sums
    _say(f"Saved {sums.blobs} files, {size_words(sums.blob_bytes)}, to {_name(file)}.")
    if settings.named_secret_key is not None:
        _say("STORYSHELF_SECRET_KEY is not in it: keep it with the backup.")
    if saved.lost:
        _say(f"{len(saved.lost)} files are gone or damaged, the first is {saved.lost[0]}.")
        raise typer.Exit(INCOMPLETE)


def restore(file: FileArgument) -> None:
    """Bring a backup into an empty data folder, after every sum in it was checked.

    A backup of an older version is brought up to date; one of a newer version is refused.
    """
    settings = read_settings()
    if settings.named_url is not None:
        raise NamedDatabaseError("Load it with `pg_restore`, or unset the variable.")
    with alone(settings.data_dir) as lock:
        if lock is None:
            raise RunningError(settings.data_dir)
        require_empty(settings.data_dir)
        with _source(file) as source:
            done = restore_into(settings.data_dir, source, SystemClock(), EmbeddedPostgres)
    _tell(done, settings)


async def _saved(settings: Settings, out: IO[bytes], *, blobs_only: bool) -> Saved:
    def tell(blobs: int) -> None:
        if blobs % TOLD_EVERY == 0:
            _say(f"{blobs} files so far")

    url = await asyncio.to_thread(url_in_use, settings)
    binaries = None if blobs_only else embedded_server(settings).binaries
    async with opened_database(settings) as db:
        source = Source(db, url, settings.data_dir, settings.blob_dir, binaries)
        return await back_up(source, out, SystemClock().now(), tell)


@contextmanager
def _target(file: str) -> Iterator[IO[bytes]]:
    """Open where the backup goes; a half one never has the name that was asked for."""
    if file == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new_private(half) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


@contextmanager
def _source(file: str) -> Iterator[IO[bytes]]:
    if file == STANDARD:
        yield sys.stdin.buffer
        return
    try:
        opened = Path(file).open("rb")  # noqa: SIM115  # closed by the block below
    except OSError as error:
        raise NoBackupError(file, error.strerror or str(error)) from error
    with opened as source:
        yield source


def _tell(done: Restored, settings: Settings) -> None:
    sums = done.sums
    _say(f"Restored the backup of {done.header.made_at} to {settings.data_dir}:")
    _say(f"  {sums.blobs} files, {size_words(sums.blob_bytes)}, and the database.")
    for step in done.migrated.steps:
        _say(f"  Applied {step}.")
    _say("`storyshelf up` starts it.")


def _name(file: str) -> str:
    return "the pipe" if file == STANDARD else file


def _say(line: str) -> None:
    """Speak where no backup can be: stdout may be the backup itself."""
    print(line, file=sys.stderr)
