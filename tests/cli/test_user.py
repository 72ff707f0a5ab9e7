"""`storyshelf user`, as typed, on a real database."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from storyshelf.auth.passwords import Passwords
from storyshelf.cli.main import run
from tests.cli.test_project import Captured, execute, read_json
from tests.db.server import from_sync

SET = "SELECT password_hash FROM users WHERE email = 'ada@shelf.test'"


@pytest.fixture(autouse=True)
def named(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("STORYSHELF_PUBLIC_URL", "https://shelf.test")
    return database_url


def done(capsys: Captured, *words: str, code: int = 0) -> dict[str, Any]:
    assert run(["user", *words, "--json"]) == code
    return read_json(capsys)


def audited(url: str) -> list[tuple[str, str | None]]:
    rows = execute(url, "SELECT action, actor, detail->>'user' FROM audit_events ORDER BY id")
    assert {actor for _, actor, _ in rows} <= {"command line"}
    return [(action, user) for action, _, user in rows]


def test_a_user_is_made_with_a_link_that_signs_them_in_once(named: str, capsys: Captured) -> None:
    made = done(capsys, "add", "Ada@Shelf.test", "--name", "Ada", "--admin")
    assert made["sign_in"].startswith("https://shelf.test/sign-in/")
    user = made["user"]
    assert (user["email"], user["name"], user["is_admin"]) == ("ada@shelf.test", "Ada", True)
    assert audited(named) == [("user.add", "ada@shelf.test"), ("user.link", "ada@shelf.test")]
    secret = made["sign_in"].rpartition("/")[2]
    assert len(secret) == 43
    assert secret not in repr(execute(named, "SELECT * FROM sign_in_links"))


def test_a_password_is_read_from_stdin(
    named: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    assert done(capsys, "add", "ada@shelf.test", "--password-stdin")["sign_in"] is None
    ((kept,),) = execute(named, SET)
    assert from_sync(Passwords().is_right(kept, "correct horse battery"))


@pytest.mark.parametrize("password", ["", "too short", "a" * 201, "aaaaaaaaaaaaa"])
def test_a_password_that_is_too_short_or_too_plain_makes_nobody(
    named: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    failure = done(capsys, "add", "ada@shelf.test", "--password-stdin", code=254)
    assert "12 to 200 characters" in failure["error"]["next_step"]
    assert execute(named, "SELECT * FROM users") == []


@pytest.mark.parametrize(
    "email", ["", "ada", "@shelf.test", "ada@", "a da@shelf.test", "ada@shelf\n.test", "a" * 400]
)
def test_what_is_no_address_is_refused(named: str, capsys: Captured, email: str) -> None:
    done(capsys, "add", email, code=254)
    assert execute(named, "SELECT * FROM users") == []


def test_an_address_is_one_users(capsys: Captured) -> None:
    done(capsys, "add", "ada@shelf.test")
    assert "already" in done(capsys, "add", "ADA@shelf.test", code=254)["error"]["what"]


def test_a_user_is_made_a_member_with_a_role(named: str, capsys: Captured) -> None:
    assert run(["project", "create", "demo"]) == 0
    capsys.readouterr()
    done(capsys, "add", "ben@shelf.test", "--project", "demo", "--role", "reviewer")
    assert execute(named, "SELECT role FROM members") == [("reviewer",)]
    done(capsys, "role", "ben@shelf.test", "demo", "viewer")
    assert execute(named, "SELECT role FROM members") == [("viewer",)]
    done(capsys, "role", "ben@shelf.test", "demo", "none")
    assert execute(named, "SELECT role FROM members") == []
    told = [one for one in audited(named) if one[0].startswith("member.")]
    assert told == [
        *[("member.set", "ben@shelf.test")] * 2,
        ("member.remove", "ben@shelf.test"),
    ]


def test_half_a_role_or_an_unknown_one_is_refused(named: str, capsys: Captured) -> None:
    done(capsys, "add", "ben@shelf.test", "--role", "viewer", code=254)
    done(capsys, "role", "ben@shelf.test", "demo", "owner", code=254)
    done(capsys, "add", "ben@shelf.test", "--role", "viewer", "--project", "none", code=254)
    assert execute(named, "SELECT * FROM users") == []


def test_a_reset_ends_password_sessions_and_older_links(
    named: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    done(capsys, "add", "ada@shelf.test", "--password-stdin")
    execute(
        named,
        "INSERT INTO sessions (user_id, secret_hash, user_agent, idle, expires_at) "
        "SELECT id, sha256('x'), '', '1 day', now() + interval '1 day' FROM users",
    )
    done(capsys, "link", "ada@shelf.test")
    assert done(capsys, "reset", "Ada@shelf.test")["sign_in"]
    assert execute(named, SET) == [(None,)]
    assert execute(named, "SELECT 1 FROM sessions WHERE revoked_at IS NULL") == []
    assert len(execute(named, "SELECT 1 FROM sign_in_links WHERE used_at IS NULL")) == 1


def test_who_is_disabled_is_signed_out_and_can_come_back(named: str, capsys: Captured) -> None:
    done(capsys, "add", "ben@shelf.test")
    assert done(capsys, "disable", "ben@shelf.test")["user"]["disabled_at"]
    assert execute(named, "SELECT 1 FROM sign_in_links WHERE used_at IS NULL") == []
    assert done(capsys, "enable", "ben@shelf.test")["user"]["disabled_at"] is None
    assert [action for action, _ in audited(named)][-2:] == ["user.disable", "user.enable"]


def test_the_last_administrator_stays(named: str, capsys: Captured) -> None:
    done(capsys, "add", "ada@shelf.test", "--admin")
    failure = done(capsys, "disable", "ada@shelf.test", code=254)
    assert "last server administrator" in failure["error"]["what"]
    done(capsys, "add", "cleo@shelf.test", "--admin")
    done(capsys, "disable", "ada@shelf.test")


def test_an_administrator_is_made_and_unmade_but_not_the_last_one(
    named: str, capsys: Captured
) -> None:
    done(capsys, "add", "ada@shelf.test", "--admin")
    done(capsys, "add", "ben@shelf.test")
    done(capsys, "admin", "ada@shelf.test", "--end", code=254)
    assert done(capsys, "admin", "ben@shelf.test")["user"]["is_admin"]
    assert not done(capsys, "admin", "ada@shelf.test", "--end")["user"]["is_admin"]
    assert audited(named)[-2:] == [
        ("user.make_admin", "ben@shelf.test"),
        ("user.end_admin", "ada@shelf.test"),
    ]


@pytest.mark.parametrize("command", ["link", "reset"])
def test_who_is_disabled_is_given_no_link(named: str, capsys: Captured, command: str) -> None:
    done(capsys, "add", "ben@shelf.test")
    done(capsys, "disable", "ben@shelf.test")
    failure = done(capsys, command, "ben@shelf.test", code=254)
    assert "storyshelf user enable ben@shelf.test" in failure["error"]["next_step"]


def test_nobody_is_reset_who_is_not_there(capsys: Captured) -> None:
    for command in ("reset", "link", "disable", "enable"):
        failure = done(capsys, command, "cleo@shelf.test", code=254)
        assert "no user cleo@shelf.test" in failure["error"]["what"]


def test_the_list_says_who_may_what(capsys: Captured) -> None:
    assert run(["user", "list"]) == 0
    assert "storyshelf user add EMAIL --admin" in capsys.readouterr().out
    done(capsys, "add", "ada@shelf.test", "--admin")
    done(capsys, "add", "ben@shelf.test")
    assert run(["user", "list"]) == 0
    ada, ben = capsys.readouterr().out.splitlines()
    assert ada.split(maxsplit=2) == ["ada@shelf.test", "ada", "server administrator, no password"]
    assert ben.endswith("no password")
    assert [one["email"] for one in done(capsys, "list")["items"]] == [
        "ada@shelf.test",
        "ben@shelf.test",
    ]
    assert "hash" not in json.dumps(done(capsys, "list"))
