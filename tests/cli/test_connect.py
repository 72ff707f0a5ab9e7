"""`storyshelf project connect`, as typed, on a real database."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.auth.secrets import secrets_of
from storyshelf.cli.main import run
from storyshelf.db.engine import Database
from tests.db.server import from_sync

Captured = pytest.CaptureFixture[str]
TOKEN = "forge-token"


@pytest.fixture(autouse=True)
def shop(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    assert run(["project", "create", "shop"]) == 0
    capsys.readouterr()


def connections(url: str) -> list[Any]:
    async def ask() -> list[Any]:
        db = Database(url)
        try:
            async with db.transaction() as tx:
                return list(await tx.execute(text("SELECT * FROM connections")))
        finally:
            await db.close()

    return from_sync(ask())


def test_a_forge_is_connected_with_a_token_from_standard_input(
    database_url: str, tmp_path: Path, capsys: Captured
) -> None:
    named = ["project", "connect", "shop", "github", "--repository", "shelf/shop"]
    assert run([*named, "--token-stdin", "--no-comments"]) == 0
    said = capsys.readouterr().out
    assert "connected to github shelf/shop" in said
    assert TOKEN not in said
    (row,) = connections(database_url)
    assert secrets_of(None, tmp_path).open(row.secret) == TOKEN
    assert (row.config["repository"], row.config["comments"]) == ("shelf/shop", False)


def test_a_webhook_gets_a_key_that_is_printed_once(
    database_url: str, tmp_path: Path, capsys: Captured
) -> None:
    address = "https://hook.test/x"
    assert run(["project", "connect", "shop", "webhook", "--url", address, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (row,) = connections(database_url)
    assert secrets_of(None, tmp_path).open(row.secret) == said["key"]
    assert (said["connection"], row.config) == (row.id, {"url": address})


@pytest.mark.parametrize(
    "wrong",
    [
        ["shop", "github", "--repository", "no-owner", "--token-stdin"],
        ["shop", "github", "--repository", "shelf/shop"],
        ["shop", "webhook", "--url", "ftp://x"],
        ["nobodys", "webhook", "--url", "https://hook.test"],
    ],
)
def test_what_is_wrong_connects_nothing(database_url: str, wrong: list[str]) -> None:
    assert run(["project", "connect", *wrong]) != 0
    assert connections(database_url) == []


def test_a_forge_without_a_token_is_told_how_to_pass_one(
    database_url: str, capsys: Captured
) -> None:
    assert run(["project", "connect", "shop", "github", "--repository", "shelf/shop"]) == 254
    assert "`--token-stdin`" in capsys.readouterr().err
    assert connections(database_url) == []
