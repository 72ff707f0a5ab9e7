"""`storyshelf accept`, `deny` and `undo`, as typed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from storyshelf.cli.main import run
from tests.cli.captured import Captured
from tests.cli.test_upload import PROBE
from tests.client.helpers import a_storybook
from tests.client.server import PAGE, FakeServer, a_snapshot

DECISIONS = "POST /api/v1/projects/demo/builds/1/decisions"


@pytest.fixture
def pending(server: FakeServer, tmp_path: Path, capsys: Captured) -> FakeServer:
    """A server whose build 1 changed two stories, added one and broke one."""
    assert run(["upload", str(a_storybook(tmp_path / "static"))]) == 0
    capsys.readouterr()
    server.build(1).states = ["pending"]
    server.snapshots = [
        a_snapshot("changed", "Primary", id=11),
        a_snapshot("changed", "Danger", id=12),
        a_snapshot("added", "Ghost", id=13),
        a_snapshot("errored", "Broken", id=14),
    ]
    return server


def decisions(server: FakeServer) -> dict[str, str]:
    return {one["name"]: one["decision"] for one in server.snapshots}


@pytest.mark.parametrize(("command", "decision"), [("accept", "accepted"), ("deny", "denied")])
@pytest.mark.parametrize(
    "name", ["12", "button--danger", f"{PAGE}/1/snapshots/danger"], ids=["id", "story", "page"]
)
def test_one_snapshot_is_decided_by_whichever_name(
    pending: FakeServer, command: str, decision: str, name: str
) -> None:
    assert run([command, "1", name]) == 0
    assert {name for name, is_ in decisions(pending).items() if is_ == decision} == {"Danger"}


def test_all_is_all_that_waits_and_the_server_knows_what_that_is(
    pending: FakeServer, capsys: Captured
) -> None:
    assert run(["accept", f"{PAGE}/1", "--all", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["decided"], said["exit_code"], said["build"]["number"]) == (4, 0, 1)
    assert not [each for each in pending.requests if "/snapshots" in each]


def test_a_decision_is_taken_back(pending: FakeServer, capsys: Captured) -> None:
    run(["accept", "1", "11", "12"])
    assert run(["undo", "1", "11"]) == 0
    assert decisions(pending)["Primary"] == "none"
    assert decisions(pending)["Danger"] == "accepted"
    assert "Taken back: 1 snapshot." in capsys.readouterr().out


def test_a_story_that_was_not_captured_cannot_be_decided(
    pending: FakeServer, capsys: Captured
) -> None:
    assert run(["accept", "1", "11", "button--broken"]) == 254
    assert "no snapshot 'button--broken' to decide" in capsys.readouterr().err
    assert set(decisions(pending).values()) == {"none"}


@pytest.mark.parametrize("words", [[], ["11", "--all"]])
def test_it_has_to_be_said_once_what_is_meant(pending: FakeServer, words: list[str]) -> None:
    assert run(["accept", "1", *words]) == 254
    assert DECISIONS not in pending.requests


def test_the_servers_refusal_is_passed_on(
    pending: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("STORYSHELF_PROJECT_TOKEN", "ssp_" + "b" * 43)
    assert run(["deny", "1", "--all"]) == 202
    assert "The project token is not known" in capsys.readouterr().err


def test_another_servers_build_is_not_decided_here(pending: FakeServer) -> None:
    assert run(["accept", "http://other.test/projects/demo/builds/1", "--all"]) == 254
    assert DECISIONS not in pending.requests


def test_deciding_loads_no_server_package(pending: FakeServer) -> None:
    command = [sys.executable, "-c", PROBE, "accept", "1", "--all"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "heavy: []\n")
