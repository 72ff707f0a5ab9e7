"""The PostgreSQL that tests run on: the wheel's, or the one STORYSHELF_TEST_POSTGRES names.

`system` stands for the newest installed by the system's packages; a folder for the programs in it:

    STORYSHELF_TEST_POSTGRES=system pytest tests/db
    STORYSHELF_TEST_POSTGRES=/usr/lib/postgresql/15/bin pytest tests/db

Each test process has a server of its own, in a folder that it holds locked while it lives. What a
killed process leaves behind is found unlocked and cleared away by the next one.
"""

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncpg

from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.postgres_binaries import (
    PostgresBinaries,
    binaries_in,
    find_binaries,
    system_binaries,
)

CHOICE = "STORYSHELF_TEST_POSTGRES"
PREFIX = "storyshelf-tests-"
QUICK = {  # nothing here has to survive a power cut
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "log_checkpoints": "off",
    "max_wal_size": "2GB",
}
T = TypeVar("T")


@contextmanager
def running_server() -> Iterator[EmbeddedPostgres]:
    """Start a server that is quick and forgetful; end it and remove its folder."""
    clear_leftovers()
    with a_data_folder() as folder:
        server = EmbeddedPostgres(folder, chosen_binaries(), settings=QUICK)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def a_data_folder() -> Iterator[Path]:
    """Make a folder that the server's user can reach: pytest's own are closed to others."""
    unlocked = Path(tempfile.mkdtemp(prefix="storyshelf-unlocked-"))
    lock = _locked(unlocked)
    assert lock is not None, "nobody else looks for folders of that name"
    folder = unlocked.rename(unlocked.with_name(unlocked.name.replace("-unlocked", "-tests")))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(lock)


def chosen_binaries() -> PostgresBinaries:
    """Return the programs that the environment names; none named: what users get."""
    choice = os.environ.get(CHOICE, "")
    if not choice:
        return find_binaries()
    found = system_binaries() if choice == "system" else binaries_in(Path(choice))
    assert found is not None, f"{CHOICE}={choice}: no PostgreSQL there"
    return found


def clear_leftovers() -> None:
    """End the servers and remove the folders of test processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        lock = _locked(folder)
        if lock is None:
            continue
        for data in folder.glob("pg/data-*"):
            _end(folder, data)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def on_server(url: str, *statements: str) -> None:
    """Run statements one by one, each in its own transaction."""

    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    from_sync(run())


def from_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a thread, so that no loop of the test's is touched."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _end(folder: Path, data: Path) -> None:
    for binaries in (find_binaries(), system_binaries()):
        if binaries and data.name == f"data-{binaries.major}":
            EmbeddedPostgres(folder, binaries).stop()
            return


def _locked(folder: Path) -> int | None:
    """Hold the folder itself; None if its owner lives, is another user, or has just removed it."""
    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if descriptor >= 0:
            os.close(descriptor)
        return None
    return descriptor
