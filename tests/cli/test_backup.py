"""`storyshelf backup` and `storyshelf restore`, as typed, on an embedded database that works."""

import asyncio
import io
import stat
import tarfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from storyshelf.auth.secrets import secrets_of
from storyshelf.builds.build import BuildState
from storyshelf.cli.main import run
from storyshelf.db import migrate
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey
from storyshelf.operations.archive import DUMP, SUMS
from storyshelf.projects import store as projects
from storyshelf.storage.local import LocalBlobs, blob_path
from tests.builds.facts import read
from tests.builds.hand import Hand, a_hand
from tests.db.server import a_data_folder, from_sync
from tests.operations.house import names_in

T = TypeVar("T")
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
RED = {"a--one": "red", "b--two": "red"}
BLUE = {**RED, "a--one": "blue"}

pytestmark = pytest.mark.timeout(120)  # clusters are made here


@pytest.fixture(scope="module")
def shelf() -> Iterator[Path]:
    """A data folder with a database that runs, a key, and a project with two builds."""
    with a_data_folder() as made, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.delenv("STORYSHELF_DATABASE_URL", raising=False)
        monkeypatch.setenv("STORYSHELF_DATA_DIR", str(made))
        assert run(["migrate"]) == 0
        secrets_of(None, made)
        on(made, fill)
        yield made
        run(["db", "stop"])


@pytest.fixture
def folder(shelf: Path, monkeypatch: Patch) -> Path:
    """That folder, as the one that commands work on."""
    monkeypatch.delenv("STORYSHELF_DATABASE_URL", raising=False)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(shelf))
    return shelf


@pytest.fixture
def elsewhere(monkeypatch: Patch) -> Iterator[Path]:
    """An empty data folder of another machine."""
    with a_data_folder() as made:
        yield made
        monkeypatch.setenv("STORYSHELF_DATA_DIR", str(made))
        run(["db", "stop"])


async def fill(hand: Hand) -> None:
    await hand.run(RED)
    assert (await hand.run(BLUE)).state is BuildState.PENDING


def on(folder: Path, work: Callable[[Hand], Awaitable[T]]) -> T:
    """Work on the project of the folder's database."""

    async def do() -> T:
        db = Database(EmbeddedPostgres(folder).url)
        blobs = LocalBlobs(folder / "blobs")
        try:
            async with db.transaction() as tx:
                found = await projects.page(tx, after_slug="", limit=1)
            hand = Hand(db, blobs, found[0]) if found else await a_hand(db, blobs)
            if found:
                hand.serial = iter(range(100, 1000)).__next__
            return await work(hand)
        finally:
            await db.close()

    return from_sync(do())


def restored(elsewhere: Path, file: Path, monkeypatch: Patch) -> int:
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(elsewhere))
    return run(["restore", str(file)])


def started(elsewhere: Path) -> None:
    assert run(["db", "start"]) == 0
    assert EmbeddedPostgres(elsewhere).status().pid is not None


@pytest.fixture
def saved(folder: Path, tmp_path: Path) -> Path:
    file = tmp_path / "shelf.tar"
    assert run(["backup", str(file)]) == 0
    return file


async def counts(hand: Hand) -> dict[str, int]:
    tables = ("builds", "snapshots", "blobs", "bundle_files", "audit_events", "jobs_done")
    return {
        table: (await read(hand, f"SELECT count(*) AS n FROM {table}"))[0]["n"] for table in tables
    }


def test_everything_is_there_again_and_verdicts_work(
    folder: Path, saved: Path, elsewhere: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    assert restored(elsewhere, saved, monkeypatch) == 0
    assert "`storyshelf up` starts it" in capsys.readouterr().err
    started(elsewhere)
    assert on(elsewhere, counts) == on(folder, counts)
    assert names_in(elsewhere / "blobs") == names_in(folder / "blobs")
    assert (elsewhere / "secret.key").read_bytes() == (folder / "secret.key").read_bytes()

    async def verdicts(hand: Hand) -> list[BuildState]:
        return [(await hand.run(look)).state for look in (RED, BLUE)]

    assert on(elsewhere, verdicts) == [BuildState.PASSED, BuildState.PENDING]


def test_what_was_made_while_others_work_holds_together(
    folder: Path, elsewhere: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    """Builds are uploaded and captured all the while; in the end no row lacks its file."""
    file = tmp_path / "shelf.tar"

    async def work(hand: Hand) -> int:
        saving = asyncio.create_task(asyncio.to_thread(run, ["backup", str(file)]))
        for number in range(100):
            await hand.run({**RED, "a--one": f"colour {number}", "c--three": "green"})
            if saving.done():
                break
        return await saving

    assert on(folder, work) == 0
    assert restored(elsewhere, file, monkeypatch) == 0
    started(elsewhere)

    async def check(hand: Hand) -> None:
        for row in await read(hand, "SELECT key, size_bytes FROM blobs"):
            assert len(await hand.blobs.read(BlobKey(row["key"]))) == row["size_bytes"]

    on(elsewhere, check)


def test_only_its_owner_may_read_a_backup(saved: Path) -> None:
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert [path.name for path in saved.parent.iterdir() if path.name.startswith(".")] == []


def test_a_folder_in_use_is_not_written_over(
    folder: Path, saved: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    there = on(folder, counts)
    assert restored(folder, saved, monkeypatch) != 0
    assert "The data folder is not empty" in capsys.readouterr().err
    assert on(folder, counts) == there


def test_nothing_is_seen_of_a_backup_that_is_cut_off_or_damaged(
    saved: Path, elsewhere: Path, tmp_path: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    whole = saved.read_bytes()
    at = whole.index(b"PNG")
    spoilt = {
        "cut off": whole[: len(whole) // 2],
        "damaged": whole[:at] + b"GNP" + whole[at + 3 :],
        "no tar": b"hello",
        "empty": b"",
    }
    for name, content in spoilt.items():
        (tmp_path / name).write_bytes(content)
        assert restored(elsewhere, tmp_path / name, monkeypatch) != 0
        assert "The backup cannot be used" in capsys.readouterr().err
        assert {path.name for path in elsewhere.iterdir()} <= {"up.lock", "lock"}


def changed(saved: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Write the archive anew with its parts changed, or left out."""
    with tarfile.open(saved) as old, tarfile.open(target, "w") as new:
        for member in old:
            source = old.extractfile(member)
            assert source is not None
            content = change(member.name, source.read())
            if content is not None:
                member.size = len(content)
                new.addfile(member, io.BytesIO(content))
    return target


def test_a_backup_that_lacks_a_part_is_refused(
    saved: Path, elsewhere: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    for part in (DUMP, SUMS, "files/secret.key", "blobs/"):

        def leave_out(name: str, content: bytes, part: str = part) -> bytes | None:
            return None if name.startswith(part) else content

        lacking = changed(saved, saved.with_name("lacking"), leave_out)
        assert restored(elsewhere, lacking, monkeypatch) != 0
        assert "The backup cannot be used" in capsys.readouterr().err


def test_a_backup_of_a_later_version_is_refused(
    saved: Path, elsewhere: Path, tmp_path: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    ours = f'"{migrate.head()}"'.encode()
    later = changed(saved, tmp_path / "later", lambda _, c: c.replace(ours, b'"9999"'))
    assert restored(elsewhere, later, monkeypatch) != 0
    assert "newer than this version" in capsys.readouterr().err


def test_nothing_in_an_archive_leads_out_of_the_folder(
    saved: Path, elsewhere: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    for name in ("files/../../evil", "files/..", "/evil", "evil", "blobs/../../evil"):
        with tarfile.open(saved) as old, tarfile.open(saved.with_name("evil"), "w") as new:
            header = old.next()
            assert header is not None
            new.addfile(header, old.extractfile(header))
            new.addfile(tarfile.TarInfo(name), io.BytesIO())
        assert restored(elsewhere, saved.with_name("evil"), monkeypatch) != 0
        assert "The backup cannot be used" in capsys.readouterr().err


def test_a_content_that_is_gone_is_told_and_the_rest_is_saved(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    key = BlobKey(min(names_in(folder / "blobs")))
    path = blob_path(folder / "blobs", key)
    path.rename(tmp_path / "lost")
    assert run(["backup", str(tmp_path / "shelf.tar")]) == 1
    (tmp_path / "lost").rename(path)
    assert f"1 files are gone or damaged, the first is {key}" in capsys.readouterr().err


def test_a_database_of_ones_own_is_left_to_its_tools(
    folder: Path, tmp_path: Path, monkeypatch: Patch, capsys: Captured
) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", EmbeddedPostgres(folder).url)
    assert run(["backup", str(tmp_path / "shelf.tar")]) != 0
    assert "pg_dump" in capsys.readouterr().err
    assert run(["backup", str(tmp_path / "shelf.tar"), "--blobs-only"]) == 0
    with tarfile.open(tmp_path / "shelf.tar") as made:
        names = {name.removeprefix("blobs/") for name in made.getnames() if "blobs/" in name}
    assert names == names_in(folder / "blobs")
