"""Save a database to a file and load it again, by PostgreSQL's own programs. Both block."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from sqlalchemy.engine.url import make_url

from storyshelf.db.postgres_binaries import PostgresBinaries
from storyshelf.db.server_user import ENVIRONMENT
from storyshelf.errors import StoryshelfError

PLAIN = ("--no-owner", "--no-privileges")  # whoever loads it owns it


class DumpFailedError(StoryshelfError):
    """One of the programs is not there, or gave up."""

    http_status = 503

    def __init__(self, program: str, said: str) -> None:
        super().__init__(
            f"{Path(program).name} failed: {said.strip() or 'without a word'}",
            where=program,
            next_step="Nothing was changed. Mend what it says, then try again.",
        )


def dump(binaries: PostgresBinaries, url: str, snapshot: str, out: IO[bytes]) -> None:
    """Write the whole database, as one exported snapshot sees it, to a file."""
    options = ["--format=custom", *PLAIN, f"--snapshot={snapshot}"]
    _run(binaries.program("pg_dump"), url, options, stdout=out)


def load(binaries: PostgresBinaries, url: str, source: IO[bytes]) -> None:
    """Fill an empty database with what was dumped; all of it or an error."""
    options = [*PLAIN, "--exit-on-error", "--single-transaction"]
    _run(binaries.program("pg_restore"), url, options, stdin=source)


def _run(
    program: str,
    url: str,
    options: Sequence[str],
    *,
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
) -> None:
    at = make_url(url)
    place = [f"--host={at.host}", f"--port={at.port}", f"--username={at.username}"]
    try:
        done = subprocess.run(
            [program, *options, *place, f"--dbname={at.database}", "--no-password"],
            # The password is in no list of processes; the rest is what loopback needs.
            env={**ENVIRONMENT, "PGPASSWORD": at.password or "", "PGSSLMODE": "disable"},
            stdin=stdin or subprocess.DEVNULL,
            stdout=stdout or subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    except FileNotFoundError as error:
        raise DumpFailedError(program, "there is no such program") from error
    if done.returncode != 0:
        raise DumpFailedError(program, done.stderr.decode(errors="replace"))
