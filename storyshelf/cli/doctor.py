"""`storyshelf doctor`: try everything that this machine needs, and say what to mend."""

import asyncio
import json as json_module
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from sqlalchemy import text

from storyshelf.auth.secrets import KEY_FILE, SealedElsewhereError, secrets_of
from storyshelf.cli.database import plain_errors, url_in_use
from storyshelf.cli.printing import print_json
from storyshelf.cli.session import JsonOption
from storyshelf.client.version import own_version
from storyshelf.db.engine import Database
from storyshelf.db.migrate import require_head, require_version
from storyshelf.db.postgres_binaries import find_binaries
from storyshelf.db.running import NoDatabaseError
from storyshelf.deliveries.store import newest_secret
from storyshelf.errors import StoryshelfError
from storyshelf.settings import Settings, read_settings
from storyshelf.storage.local import LocalBlobs

FAILED = 1
ENOUGH_FREE_BYTES = 2 * 2**30  # about a hundred builds of a middling Storybook
DATABASE_S = 15.0
CONSUMER_S = 120.0  # its browser is started twice, on a machine that may be busy
WORDS_OF_A_CRASH = 300

Finding = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was tried; `cure` is what to do if it is not ok."""

    name: str
    finding: Finding
    detail: str
    cure: str = ""

    def lines(self) -> list[str]:
        """Say it for people."""
        return [f"{self.finding:<4}  {self.name}: {self.detail}"] + (
            [f"      {self.cure}"] if self.cure else []
        )


def doctor(
    *,
    server: Annotated[
        bool, typer.Option("--server", help="Only what a server needs: no browser, no fonts.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Try database, storage, key, browser, comparison, isolation and fonts; say what to mend.

    Exit codes: 0 everything works, if with warnings; 1 something does not.
    """
    probes = asyncio.run(_examine(read_settings(), captures=not server))
    if json:
        print_json({"probes": [asdict(one) for one in probes]})
    else:
        print("\n".join(line for one in probes for line in one.lines()))
    if any(one.finding == "fail" for one in probes):
        raise typer.Exit(FAILED)


async def _examine(settings: Settings, *, captures: bool) -> Sequence[Probe]:
    """Try everything; what fails is a finding, and the rest is tried all the same."""
    return [
        probe_versions(),
        await probe_database(settings),
        await probe_storage(settings),
        await probe_key(settings),
        *(await probe_consumer(settings) if captures else ()),
    ]


def probe_versions() -> Probe:
    """Name what a report of a fault has to name."""
    python = platform.python_version()
    detail = f"storyshelf {own_version()}, Python {python}, {platform.platform()}"
    return Probe("versions", "ok", detail)


async def probe_database(settings: Settings) -> Probe:
    """Connect, ask for the version, and hold the schema against this program's."""
    place = "STORYSHELF_DATABASE_URL" if settings.named_url else "embedded"
    try:
        url = await asyncio.to_thread(url_in_use, settings)
        with plain_errors():
            async with asyncio.timeout(DATABASE_S):
                version = await _checked_version(url)
    except NoDatabaseError:
        binaries = find_binaries()
        detail = f"embedded: PostgreSQL {binaries.version} is installed, and does not run"
        return Probe("database", "warn", detail, "`storyshelf up` starts it, or `db start`.")
    except StoryshelfError as error:
        return _failed("database", error)
    return Probe("database", "ok", f"PostgreSQL {version} ({place}), schema up to date")


async def probe_storage(settings: Settings) -> Probe:
    """Write a blob, sync it, read it back and remove it; look at the space that is left."""
    folder = settings.blob_dir
    try:
        await _try_blobs(_existing_above(folder))
        free_bytes = shutil.disk_usage(_existing_above(folder)).free
    except (OSError, StoryshelfError) as error:
        cure = "Give this user the folder, or set STORYSHELF_DATA_DIR to one it may write."
        return Probe("storage", "fail", f"{folder}: {error}", cure)
    detail = f"{folder}: written, synced and read back; {free_bytes / 2**30:.1f} GiB free"
    if free_bytes < ENOUGH_FREE_BYTES:
        return Probe("storage", "warn", detail, "Make room, or move STORYSHELF_DATA_DIR.")
    return Probe("storage", "ok", detail)


async def probe_key(settings: Settings) -> Probe:
    """Open the secret that was sealed last: server and consumers have to have its key."""
    kept = settings.data_dir / KEY_FILE
    if settings.named_secret_key is None and not kept.exists():
        return Probe("key", "ok", f"{kept} is made at the first start")
    place = str(kept) if settings.named_secret_key is None else "STORYSHELF_SECRET_KEY"
    try:
        key = secrets_of(settings.named_secret_key, settings.data_dir)
        url = await asyncio.to_thread(url_in_use, settings)
        with plain_errors():
            async with asyncio.timeout(DATABASE_S):
                secret = await _newest_secret(url)
        if secret is not None:
            key.open(secret)
    except SealedElsewhereError as error:
        return _failed("key", error)
    except (OSError, StoryshelfError) as error:
        return Probe("key", "warn", f"{place}: not tried, {error}", "Mend the database first.")
    opened = "no secret is sealed with it yet" if secret is None else "opens what is sealed"
    return Probe("key", "ok", f"{place}: {opened}")


async def probe_consumer(settings: Settings) -> Sequence[Probe]:
    """Have the consumer's own examination run, in a process: the CLI does not know its parts."""
    argv = [*(sys.executable, "-P", "-m", "consumer.doctor", "--json")]
    argv += ["--data-dir", str(settings.data_dir), "--first-uid", str(settings.slot_uid_base)]
    if settings.browser_path is not None:
        argv += ["--browser", str(settings.browser_path)]
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(CONSUMER_S):
            said, complaint = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return [Probe("consumer", "fail", f"no answer within {CONSUMER_S:g} s", "Try once more.")]
    return read_probes(said, complaint)


def read_probes(said: bytes, complaint: bytes) -> Sequence[Probe]:
    """Return what the consumer's examination printed; that it broke off is a finding."""
    try:
        found: list[dict[str, Any]] = json_module.loads(said)
        probes = [Probe(**one) for one in found]
    except (ValueError, TypeError):
        probes = []
    if not probes:
        words = complaint.decode(errors="replace").strip()[-WORDS_OF_A_CRASH:]
        cure = "Install the package again; if it stays so, report it with these words."
        return [Probe("consumer", "fail", f"its examination ended early: {words}", cure)]
    return probes


async def _checked_version(url: str) -> str:
    db = Database(url, pool_size=1, application="storyshelf doctor")
    try:
        async with db.transaction() as tx:
            number = await tx.execute(text("SHOW server_version_num"))
            version = await tx.execute(text("SHOW server_version"))
        require_version(int(number.scalar_one()))
        await require_head(db)
        return str(version.scalar_one()).partition(" ")[0]
    finally:
        await db.close()


async def _newest_secret(url: str) -> bytes | None:
    db = Database(url, pool_size=1, application="storyshelf doctor")
    try:
        async with db.transaction() as tx:
            return await newest_secret(tx)
    finally:
        await db.close()


async def _try_blobs(folder: Path) -> None:
    """Use a storage of its own on the same disk, so that nothing of the real one is touched."""
    with tempfile.TemporaryDirectory(prefix=".doctor-", dir=folder) as trial:
        blobs = LocalBlobs(Path(trial))
        content = os.urandom(64)
        if await blobs.read(await blobs.put(content)) != content:
            raise OSError("what was read is not what was written")


def _existing_above(folder: Path) -> Path:
    return next(step for step in (folder, *folder.parents) if step.exists())


def _failed(name: str, error: StoryshelfError) -> Probe:
    where = f" ({error.where})" if error.where else ""
    return Probe(name, "fail", f"{error.what}{where}", error.next_step)
