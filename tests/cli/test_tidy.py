"""`storyshelf tidy`, `build delete` and `project delete`, as typed, on a real database."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import pytest

from storyshelf.cli.main import run
from storyshelf.db.engine import Database
from storyshelf.operations.sweep import alone
from storyshelf.storage.local import LocalBlobs
from tests.builds import facts
from tests.builds.hand import Hand, a_hand
from tests.db.server import from_sync
from tests.operations.house import a_day_passes, names_in

T = TypeVar("T")
Captured = pytest.CaptureFixture[str]
RED = {"a--one": "red", "b--two": "red"}


@pytest.fixture
def blobs(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture(autouse=True)
def named(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A project whose three builds look alike, and a file that no build names."""
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))

    async def fill(db: Database) -> None:
        hand = await a_hand(db, LocalBlobs(tmp_path / "blobs"))
        for _ in range(3):
            await hand.run(RED)
        await hand.blobs.put(b"nobody's")
        await a_day_passes(hand, tmp_path / "blobs")

    on(database_url, fill)
    return database_url


def on(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    async def do() -> T:
        db = Database(url)
        try:
            return await work(db)
        finally:
            await db.close()

    return from_sync(do())


def numbers(url: str) -> list[int]:
    async def ask(db: Database) -> list[int]:
        hand = Hand(db, LocalBlobs(Path("/nowhere")), project=None)  # type: ignore[arg-type]
        return [row["number"] for row in await facts.read(hand, "SELECT number FROM builds")]

    return sorted(on(url, ask))


def read_json(capsys: Captured) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_without_limits_only_what_nobody_names_goes(named: str, capsys: Captured) -> None:
    assert run(["tidy"]) == 0
    assert "Dropped 0 builds and removed 1 file, 8 B." in capsys.readouterr().out
    assert numbers(named) == [1, 2, 3]


def test_a_dry_run_tells_each_build_with_its_reason_and_does_nothing(
    named: str, blobs: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORYSHELF_KEEP_BUILDS", "2")
    there = names_in(blobs)
    assert run(["tidy", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "drop shop build 1: it is not among the newest 2 of branch main" in said
    assert "keep shop build 2: it is within the limits" in said
    assert "Would drop 1 build and remove 1 file" in said
    assert (numbers(named), names_in(blobs)) == ([1, 2, 3], there)


def test_the_limits_of_the_project_come_before_the_servers(
    named: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORYSHELF_KEEP_BUILDS", "50")
    assert run(["project", "set", "shop", "keep_builds=1"]) == 0
    capsys.readouterr()
    assert run(["tidy", "--project", "shop", "--json"]) == 0
    said = read_json(capsys)
    assert (said["builds"], said["blobs"], said["dry_run"]) == (2, 1, False)
    assert [choice["fate"] for choice in said["choices"]] == ["keep", "drop", "drop"]
    assert numbers(named) == [3]


def test_a_project_that_is_not_there_is_refused(capsys: Captured) -> None:
    assert run(["tidy", "--project", "nobody"]) != 0
    assert "There is no such project" in capsys.readouterr().err


def test_who_comes_second_is_told_to_wait(named: str, capsys: Captured) -> None:
    async def meanwhile(db: Database) -> int:
        async with alone(db):
            return await asyncio.to_thread(run, ["tidy"])

    assert on(named, meanwhile) != 0
    assert "Another process is tidying up" in capsys.readouterr().err


def test_a_build_is_deleted_when_that_is_said_twice(named: str, capsys: Captured) -> None:
    assert run(["build", "delete", "shop", "2", "--yes"]) == 0
    assert "Build 2 of project shop is deleted." in capsys.readouterr().out
    assert numbers(named) == [1, 3]


def test_without_a_yes_nothing_is_deleted(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("n\n" * 2))
    assert run(["build", "delete", "shop", "2"]) == 130
    assert run(["project", "delete", "shop"]) == 130
    assert numbers(named) == [1, 2, 3]


def test_a_project_is_deleted_with_all_it_has(named: str, capsys: Captured) -> None:
    assert run(["project", "delete", "shop", "--yes"]) == 0
    assert numbers(named) == []
    capsys.readouterr()
    assert run(["project", "list", "--json"]) == 0
    assert read_json(capsys) == {"items": []}


def test_what_is_not_there_cannot_be_deleted(capsys: Captured) -> None:
    assert run(["build", "delete", "shop", "9", "--yes"]) != 0
    assert "There is no such build" in capsys.readouterr().err
    assert run(["project", "delete", "nobody", "--yes"]) != 0
    assert "There is no such project" in capsys.readouterr().err
