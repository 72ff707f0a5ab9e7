"""`storyshelf cancel` and `storyshelf capture-again`, as typed."""

import json
from pathlib import Path

import pytest

from storyshelf.cli.main import run
from tests.cli.captured import Captured
from tests.client.helpers import a_storybook
from tests.client.server import PAGE, FakeServer


@pytest.fixture
def uploaded(server: FakeServer, tmp_path: Path, capsys: Captured) -> FakeServer:
    assert run(["upload", str(a_storybook(tmp_path / "static"))]) == 0
    capsys.readouterr()
    server.build(1).states = ["capturing"]
    return server


def test_a_build_is_cancelled_for_a_reason(uploaded: FakeServer, capsys: Captured) -> None:
    assert run(["cancel", f"{PAGE}/1", "--reason", "the branch is gone"]) == 0
    out = capsys.readouterr().out
    assert out == f"Build 1 is cancelled: the branch is gone\n  {PAGE}/1\n"


def test_what_was_cancelled_is_told_to_machines(uploaded: FakeServer, capsys: Captured) -> None:
    assert run(["cancel", "1", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["build"]["state"], said["exit_code"]) == ("cancelled", 0)


def test_a_build_is_captured_again(uploaded: FakeServer, capsys: Captured) -> None:
    uploaded.build(1).states = ["failed"]
    assert run(["capture-again", "1"]) == 0
    assert "Build 1 is queued" in capsys.readouterr().out
    assert uploaded.requests[-1] == "POST /api/v1/projects/demo/builds/1/capture-again"


@pytest.mark.parametrize("command", ["cancel", "capture-again"])
def test_another_servers_build_is_not_touched(uploaded: FakeServer, command: str) -> None:
    assert run([command, "http://other.test/projects/demo/builds/1"]) == 254
    assert uploaded.build(1).states == ["capturing"]
