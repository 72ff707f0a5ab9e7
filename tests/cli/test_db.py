"""`storyshelf db` and `storyshelf migrate`, as typed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from storyshelf.cli.main import run
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from tests.db.server import a_data_folder, from_sync

Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.timeout(60)  # a cluster is made here


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder of a machine on which no database was named; left without a server."""
    monkeypatch.delenv("STORYSHELF_DATABASE_URL", raising=False)
    with a_data_folder() as made:
        monkeypatch.setenv("STORYSHELF_DATA_DIR", str(made))
        yield made
        run(["db", "stop"])


@pytest.fixture
def named(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    return database_url


def test_the_server_is_started_shown_and_stopped(folder: Path, capsys: Captured) -> None:
    assert run(["db", "status"]) == 3
    assert run(["db", "start"]) == 0
    assert f"with its data in {folder}" in capsys.readouterr().out
    assert run(["db", "status", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["state"], said["embedded"]) == ("running", True)
    assert run(["db", "stop"]) == 0
    assert "does not run" in capsys.readouterr().out
    assert run(["db", "status"]) == 3


def test_what_is_printed_holds_no_password(folder: Path, capsys: Captured) -> None:
    run(["db", "start"])
    run(["db", "status"])
    run(["db", "status", "--json"])
    printed = capsys.readouterr().out
    passwords = [path.read_text() for path in (folder / "pg").glob("*.password")]
    assert len(passwords) == 2
    assert [password for password in passwords if password in printed] == []


def test_migrate_starts_the_embedded_server_and_says_each_step(
    folder: Path, capsys: Captured
) -> None:
    assert run(["migrate"]) == 0
    said = capsys.readouterr().out
    assert "Applied 0001: " in said
    assert f"from an empty database to {migrate.head()}" in said
    assert run(["db", "status"]) == 0


def test_migrate_works_on_the_database_that_is_named(named: str, capsys: Captured) -> None:
    from_sync(migrate.downgrade(named, SystemClock(), "base"))
    assert run(["migrate"]) == 0
    assert run(["migrate"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"Nothing to do: STORYSHELF_DATABASE_URL is at {migrate.head()}."


@pytest.mark.parametrize("command", ["start", "stop", "status"])
def test_a_named_database_wins_and_the_command_says_so(
    named: str, command: str, tmp_path: Path, capsys: Captured
) -> None:
    assert run(["db", command]) == 0
    assert "STORYSHELF_DATABASE_URL names the database" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
