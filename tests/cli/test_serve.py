"""`storyshelf serve`, as typed and as a process."""

import io
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from storyshelf.auth import users
from storyshelf.cli.listening import NobodySignsInError, bind, require_somebody
from storyshelf.cli.main import run
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.engine import Database
from tests.db.server import from_sync

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def named(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("STORYSHELF_PUBLIC_URL", raising=False)
    return database_url


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "shelf.example.com", ""])
async def test_nobody_outside_is_let_near_while_nobody_can_sign_in(db: Database, host: str) -> None:
    with pytest.raises(NobodySignsInError, match="storyshelf user add EMAIL --admin"):
        await require_somebody(db, host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8", "::1"])
async def test_this_machine_needs_no_password(db: Database, host: str) -> None:
    await require_somebody(db, host)


@pytest.mark.parametrize("state", ["has no password", "is disabled"])
async def test_a_user_who_cannot_sign_in_is_nobody(db: Database, state: str) -> None:
    async with db.transaction() as tx:
        user = await users.add(tx, "a test", users.parse_user("ada@shelf.test"))
        if state == "is disabled":
            await users.set_password(tx, "a test", user, "a hash")
            await users.disable(tx, "a test", user)
    with pytest.raises(NobodySignsInError):
        await require_somebody(db, "0.0.0.0")


@pytest.mark.flow
@pytest.mark.timeout(60)
def test_beyond_this_machine_it_starts_once_somebody_has_a_password(
    named: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORYSHELF_HOST", "0.0.0.0")  # as it is told; the socket is this machine's
    with socket.create_server(("127.0.0.1", 0)) as given:
        assert run(["serve", "--listener", str(os.dup(given.fileno()))]) == 254
        assert "STORYSHELF_HOST or --host is '0.0.0.0'" in capsys.readouterr().err
        monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
        assert run(["user", "add", "ada@shelf.test", "--admin", "--password-stdin"]) == 0
        os.set_inheritable(given.fileno(), True)  # noqa: FBT003  # its only form
        with serving("--listener", str(given.fileno())) as (_, url):
            assert url == f"http://localhost:{given.getsockname()[1]}"
            assert httpx.get(f"{url}/sign-in", timeout=20).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8"])
def test_every_name_of_this_machine_will_do(host: str) -> None:
    with bind(host, 0) as listener:
        assert listener.getsockname()[1] > 0


def test_a_port_that_is_taken_is_named(named: str, capsys: Captured) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 254
    assert f"127.0.0.1:{port}" in capsys.readouterr().err


def test_without_a_database_it_names_the_ways_to_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    monkeypatch.delenv("STORYSHELF_DATABASE_URL", raising=False)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    assert run(["serve", "--port", "0"]) == 254
    err = capsys.readouterr().err
    assert all(way in err for way in ("storyshelf up", "storyshelf db start", "_DATABASE_URL"))


def test_a_schema_that_is_behind_stops_the_start(named: str, capsys: Captured) -> None:
    from_sync(migrate.downgrade(named, SystemClock(), "base"))
    assert run(["serve", "--port", "0"]) == 254
    assert "Run `storyshelf migrate`." in capsys.readouterr().err


@pytest.mark.flow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_links_have_the_port_it_got_and_a_signal_ends_it_in_order(
    named: str, sign: signal.Signals, capsys: Captured
) -> None:
    assert run(["project", "create", "demo", "--json"]) == 0
    token = capsys.readouterr().out.partition('"token": "')[2].partition('"')[0]
    with serving("--port", "0") as (process, url):
        answer = httpx.get(
            f"{url}/api/v1/project", headers={"Authorization": f"Bearer {token}"}, timeout=20
        )
        assert answer.json()["url"] == f"{url}/projects/demo"
        process.send_signal(sign)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "server.stopped" in err


@contextmanager
def serving(*words: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Start the server and yield it with the address that it tells."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("storyshelf")), "serve", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        close_fds=False,
    )
    try:
        yield process, told_url(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def told_url(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    for line in process.stderr:
        _, told, url = line.partition("server.started")
        if told:
            return url.partition("url=")[2].split()[0]
    raise AssertionError("it ended before it served")
