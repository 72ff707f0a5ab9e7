"""`storyshelf project`, as typed, on a real database."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.auth import store as auth
from storyshelf.auth.tokens import Caller, UnknownTokenError, parse_bearer
from storyshelf.cli.main import run
from storyshelf.db.engine import Database
from tests.db.server import from_sync

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def named(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    return database_url


@pytest.fixture
def demo(named: str, capsys: Captured) -> dict[str, Any]:
    """A project `demo`, as its making told of it."""
    assert run(["project", "create", "demo", "--name", "Demo", "--json"]) == 0
    return read_json(capsys)


def read_json(capsys: Captured) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def caller_of(url: str, token: str) -> Caller:
    async def ask() -> Caller:
        db = Database(url)
        try:
            async with db.transaction() as tx:
                return await auth.caller_of(tx, parse_bearer(f"Bearer {token}"))
        finally:
            await db.close()

    return from_sync(ask())


def execute(url: str, statement: str) -> list[Any]:
    async def ask() -> list[Any]:
        db = Database(url)
        try:
            async with db.transaction() as tx:
                done = await tx.execute(text(statement))
                return [tuple(row) for row in done] if done.returns_rows else []
        finally:
            await db.close()

    return from_sync(ask())


def test_a_made_project_has_a_token_that_speaks_for_it(named: str, demo: dict[str, Any]) -> None:
    assert demo["project"]["name"] == "Demo"
    assert demo["project"]["default_branch"] == "main"
    assert caller_of(named, demo["token"]).project_slug == "demo"


def test_the_token_is_printed_once_and_stored_nowhere(named: str, capsys: Captured) -> None:
    assert run(["project", "create", "shelf"]) == 0
    out = capsys.readouterr().out
    (token,) = [word for word in out.split() if word.startswith("ssp_")]
    assert caller_of(named, token).token_name == "first"
    run(["project", "tokens", "shelf"])
    run(["project", "list"])
    assert token not in capsys.readouterr().out
    stored = execute(named, "SELECT t::text FROM tokens t UNION SELECT a::text FROM audit_events a")
    assert [row for (row,) in stored if token in row] == []


def test_a_slug_is_made_once(demo: dict[str, Any], capsys: Captured) -> None:
    assert run(["project", "create", "demo"]) == 254
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("slug", ["Demo", "-demo", "demo_1", "a" * 64, ""])
def test_a_slug_has_to_fit_a_host_name(slug: str, capsys: Captured) -> None:
    assert run(["project", "create", "--", slug]) == 254
    assert "lower-case letters" in capsys.readouterr().err


def test_a_project_has_as_many_tokens_as_it_wants(
    named: str, demo: dict[str, Any], capsys: Captured
) -> None:
    assert run(["project", "token", "demo", "--name", "nightly", "--json"]) == 0
    second = read_json(capsys)["token"]
    assert caller_of(named, second).token_name == "nightly"
    assert caller_of(named, demo["token"]).token_name == "first"
    run(["project", "tokens", "demo", "--json"])
    assert [one["name"] for one in read_json(capsys)["items"]] == ["first", "nightly"]


def test_a_token_ends_with_its_days(named: str, demo: dict[str, Any], capsys: Captured) -> None:
    run(["project", "token", "demo", "--expires-days", "1", "--json"])
    token = read_json(capsys)["token"]
    assert caller_of(named, token).project_slug == "demo"
    execute(named, "UPDATE tokens SET expires_at = expires_at - interval '25 hours'")
    with pytest.raises(UnknownTokenError):
        caller_of(named, token)
    assert caller_of(named, demo["token"]).token_name == "first"


def test_a_revoked_token_is_none_any_more(
    named: str, demo: dict[str, Any], capsys: Captured
) -> None:
    run(["project", "tokens", "demo", "--json"])
    number = str(read_json(capsys)["items"][0]["id"])
    assert run(["project", "revoke", "demo", number]) == 0
    with pytest.raises(UnknownTokenError):
        caller_of(named, demo["token"])
    assert run(["project", "revoke", "demo", number]) == 254
    run(["project", "tokens", "demo"])
    assert "revoked 20" in capsys.readouterr().out


def test_another_projects_token_is_not_revoked(
    named: str, demo: dict[str, Any], capsys: Captured
) -> None:
    run(["project", "create", "other"])
    run(["project", "tokens", "demo", "--json"])
    number = capsys.readouterr().out.partition('"id": ')[2].partition(",")[0]
    assert run(["project", "revoke", "other", number]) == 254
    assert caller_of(named, demo["token"]).token_name == "first"


def test_projects_are_listed_by_slug(capsys: Captured) -> None:
    assert run(["project", "list"]) == 0
    assert "no project yet" in capsys.readouterr().out
    run(["project", "create", "zebra"])
    run(["project", "create", "ant"])
    capsys.readouterr()
    run(["project", "list", "--json"])
    assert [one["slug"] for one in read_json(capsys)["items"]] == ["ant", "zebra"]


def test_options_are_set_beside_those_that_are(demo: dict[str, Any], capsys: Captured) -> None:
    run(["project", "set", "demo", "diff_threshold=0.25"])
    capsys.readouterr()
    assert run(["project", "set", "demo", "cancels_older_builds=yes", "--json"]) == 0
    options = read_json(capsys)["options"]
    assert (options["cancels_older_builds"], options["diff_threshold"]) == (True, 0.25)


def test_options_are_printed_as_they_are_typed(demo: dict[str, Any], capsys: Captured) -> None:
    capsys.readouterr()
    assert run(["project", "set", "demo", "public_storybook=yes", "viewports=375,1280x800"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "public_storybook = true" in lines
    assert "cancels_older_builds = false" in lines
    said = [line.replace(" = ", "=").replace(", ", ",") for line in lines]
    assert run(["project", "set", "demo", *said]) == 0
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    "given",
    [
        "diff_threshold",
        "diff_threshold=much",
        "diff_threshold=1.1",
        "diff_threshold=-0.1",
        "diff_threshold=nan",
        "cancels_older_builds=perhaps",
        "colour=red",
    ],
)
def test_what_makes_no_sense_sets_nothing(
    demo: dict[str, Any], given: str, capsys: Captured
) -> None:
    assert run(["project", "set", "demo", "diff_threshold=0.5", given]) == 254
    assert given in capsys.readouterr().err
    run(["project", "list", "--json"])
    assert read_json(capsys)["items"][0]["options"]["diff_threshold"] == 0.1


@pytest.mark.parametrize("command", ["token", "tokens", "set"])
def test_a_project_that_is_not_there_is_named(command: str, capsys: Captured) -> None:
    more = ["diff_threshold=0"] if command == "set" else []
    assert run(["project", command, "nowhere", *more]) == 254
    assert "There is no such project (nowhere)" in capsys.readouterr().err


def test_who_did_what_is_kept(named: str, demo: dict[str, Any]) -> None:
    run(["project", "token", "demo", "--name", "nightly"])
    run(["project", "set", "demo", "diff_threshold=0.5"])
    kept = execute(named, "SELECT actor, action FROM audit_events ORDER BY id")
    assert {actor for actor, _ in kept} == {"command line"}
    assert [action for _, action in kept] == [
        "project.create",
        "token.create",
        "token.create",
        "project.set",
    ]


def test_a_database_that_does_not_answer_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", "postgresql://a:secret@127.0.0.1:1/none")
    assert run(["project", "list"]) == 254
    err = capsys.readouterr().err
    assert err.startswith("Error: The database cannot be used: ")
    assert "secret" not in err
