"""Run an embedded server below the folder as a user without rights, and say what was seen.

Root becomes that user by name or number, once everything is imported: the interpreter may lie
where the user cannot go. Everyone else stays who they are.
"""

import asyncio
import os
import pwd
import sys
from pathlib import Path

import asyncpg

from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.errors import StoryshelfError
from tests.db.server import chosen_binaries


def main(folder: Path, user: str) -> None:
    # The copy stands for an installation of the user's own, which a clone of root's may not be.
    chosen = chosen_binaries()
    binaries = chosen.copied_to(folder / "programs") if chosen.folders else chosen
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    if os.geteuid() == 0:
        become(int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid, closed)
    server = EmbeddedPostgres(closed / "data", binaries)
    try:
        say(f"answered {asyncio.run(one(server.start()))}")
        server.stop()
        say(server.status().state)
    except StoryshelfError as error:
        say(str(error))


def become(uid: int, owned: Path) -> None:
    os.chown(owned, uid, uid)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    os.environ["HOME"] = str(owned)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


async def one(url: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval("SELECT 1")
    finally:
        await connection.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
