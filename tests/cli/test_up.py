"""`storyshelf up` as a process: what it starts, keeps running, and leaves behind (nothing)."""

import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from storyshelf.db.embedded import EmbeddedPostgres, ServerState
from storyshelf.db.engine import Database
from tests.cli.upped import PROGRAM, Up, all_dead, environment, eventually, up
from tests.db.server import a_data_folder, from_sync

pytestmark = [pytest.mark.flow, pytest.mark.timeout(120)]

NO_CONSUMER = ("--consumers", "0")
ONE_CONSUMER = ("--consumers", "1")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A data folder whose database is made once; nothing runs on it between tests."""
    with a_data_folder() as made:
        yield made
        EmbeddedPostgres(made).stop()


@pytest.fixture
def running(folder: Path) -> Iterator[Up]:
    with up(folder, *NO_CONSUMER) as started:
        assert started.said
        yield started


def saved(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "client.json").read_text())
    return found


def test_it_answers_and_has_saved_a_token_that_opens_its_project(running: Up, folder: Path) -> None:
    login = saved(folder)
    answer = httpx.get(
        f"{login['url']}/api/v1/project", headers={"Authorization": f"Bearer {login['token']}"}
    )
    assert (login["url"], login["project"]) == (running.said["url"], "storybook")
    assert answer.json()["slug"] == "storybook"
    assert stat.S_IMODE((folder / "client.json").stat().st_mode) == 0o600


def test_the_first_administrator_signs_in_by_the_link_until_they_have_a_password(
    running: Up, folder: Path
) -> None:
    url, link = running.said["url"], running.said["sign_in"]
    assert link.startswith(f"{url}/sign-in/")
    with up(folder, *NO_CONSUMER) as second:
        assert second.said["sign_in"] not in {None, link}
    with httpx.Client(base_url=url, headers={"Origin": url}, trust_env=False) as browser:
        assert "Sign in as Administrator" in browser.get(link).text
        assert browser.post(link).headers["location"] == "/account"
        words = {"wanted": "correct horse battery"}
        assert browser.post("/account/password", data=words).status_code == 303
    with up(folder, *NO_CONSUMER) as third:
        assert third.said["sign_in"] is None


def test_a_second_one_tells_of_the_first_and_ends(running: Up, folder: Path) -> None:
    with up(folder, *NO_CONSUMER) as second:
        assert {**second.said, "sign_in": None} == {**running.said, "sign_in": None}
        assert second.process.wait(30) == 0
    assert running.process.poll() is None
    assert running.is_ready()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything(folder: Path, sign: signal.Signals) -> None:
    with up(folder, *ONE_CONSUMER) as started:
        assert started.said
        eventually(lambda: started.pid_of("consumer.main"))
        everyone = started.everyone
        assert len(everyone) >= 5  # itself, database, server, consumer, the one behind it
        assert started.stop(sign) == 0
    assert all_dead(everyone)
    assert not (folder / "up.json").exists()


def test_it_stops_also_when_nobody_reads_what_it_says_any_more(folder: Path) -> None:
    with subprocess.Popen(
        [str(PROGRAM), "up", "--json", "--port", "0", *NO_CONSUMER],
        env=environment(folder, {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stderr.close()
        process.terminate()
        try:
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_the_saved_token_is_the_same_after_a_restart(folder: Path) -> None:
    with up(folder, *NO_CONSUMER) as first:
        assert first.said
        token = saved(folder)["token"]
    with up(folder, *NO_CONSUMER) as second:
        assert second.said
    assert saved(folder)["token"] == token


def test_another_project_can_be_asked_for(folder: Path) -> None:
    with up(folder, *NO_CONSUMER, "--project", "design-system") as started:
        assert started.said["project"] == "design-system"
    with up(folder, *NO_CONSUMER) as again:
        assert again.said["project"] == "design-system"
    (folder / "client.json").unlink()


@pytest.mark.parametrize("module", ["consumer.main", "storyshelf.cli.main serve"])
def test_a_killed_process_is_started_again(folder: Path, module: str) -> None:
    with up(folder, *ONE_CONSUMER) as started:
        assert started.said
        eventually(lambda: started.pid_of(module))
        killed = started.pid_of(module)
        assert killed is not None
        kill(killed)
        eventually(lambda: started.pid_of(module) not in {None, killed})
        assert "was ended by SIGKILL; it starts again in 0.5 s" in started.complaints
        eventually(started.is_ready)


def test_a_killed_database_is_started_again(running: Up) -> None:
    killed = running.database_pid
    kill(killed)
    eventually(lambda: running.database_pid not in {0, killed})
    eventually(running.is_ready)
    assert "The database has ended; it starts again." in running.complaints


def test_when_it_is_killed_itself_nothing_is_left_and_the_next_one_works(folder: Path) -> None:
    with up(folder, *ONE_CONSUMER) as started:
        assert started.said
        eventually(lambda: started.pid_of("consumer.main"))
        everyone = started.everyone
        kill(started.process.pid)
        with up(folder, *NO_CONSUMER) as following:  # at once: it waits for what is left
            assert following.is_ready()
            assert all_dead(everyone)


def test_a_machine_that_cannot_capture_is_told_and_not_tried_again_and_again(
    folder: Path,
) -> None:
    with up(folder, *ONE_CONSUMER, browser_path="/nowhere/chromium") as started:
        eventually(lambda: "next try in 60 s" in started.complaints)
        assert "consumer-1: Error: " in started.complaints
        assert "/nowhere/chromium" in started.complaints
        assert started.is_ready()


def test_a_port_that_is_taken_ends_it_before_anything_starts(running: Up, tmp_path: Path) -> None:
    port = running.said["url"].rpartition(":")[2]
    with up(tmp_path, "--port", port) as second:
        assert second.process.wait(30) == 254
    assert second.said["error"]["where"] == f"127.0.0.1:{port}"
    assert not (tmp_path / "pg").exists()


@pytest.mark.parametrize("domain", ["https://x.example", "localhost"])
def test_a_domain_under_which_nothing_can_be_published_ends_it_at_once(
    tmp_path: Path, domain: str
) -> None:
    with up(tmp_path, *NO_CONSUMER, content_domain=domain) as started:
        assert started.process.wait(30) == 254
    assert started.said["error"]["where"] == "STORYSHELF_CONTENT_DOMAIN"
    assert not (tmp_path / "pg").exists()


def test_a_damaged_key_ends_it_at_once(tmp_path: Path) -> None:
    (tmp_path / "secret.key").touch()
    with up(tmp_path, *NO_CONSUMER) as started:
        assert started.process.wait(30) == 254
    assert started.said["error"]["where"] == str(tmp_path / "secret.key")
    assert not (tmp_path / "pg").exists()


def test_a_named_database_is_used_and_left_running(database_url: str, tmp_path: Path) -> None:
    with up(tmp_path, *NO_CONSUMER, database_url=database_url) as started:
        assert started.is_ready()
        assert started.stop() == 0
    assert not (tmp_path / "pg").exists()
    from_sync(connect(database_url))


def test_an_embedded_database_that_ran_before_is_left_running(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    try:
        with up(folder, *NO_CONSUMER) as started:
            assert started.said
        assert server.status().state is ServerState.RUNNING
    finally:
        server.stop()


async def connect(url: str) -> None:
    db = Database(url)
    async with db.transaction():
        pass
    await db.close()


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
