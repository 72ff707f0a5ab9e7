import json
import subprocess
import sys
from pathlib import Path

import pytest

from storyshelf.cli.main import run
from tests.cli.captured import Captured
from tests.cli.test_upload import PROBE
from tests.client.helpers import a_storybook
from tests.client.server import PAGE, FakeServer


@pytest.fixture
def uploaded(server: FakeServer, tmp_path: Path, capsys: Captured) -> FakeServer:
    assert run(["upload", str(a_storybook(tmp_path / "static"))]) == 0
    capsys.readouterr()
    return server


@pytest.mark.parametrize("build", ["1", "#1", f"{PAGE}/1"])
def test_a_build_is_named_by_its_number_or_its_page(uploaded: FakeServer, build: str) -> None:
    uploaded.build(1).states = ["pending"]
    assert run(["wait", build]) == 1


def test_changes_can_be_excused(uploaded: FakeServer) -> None:
    uploaded.build(1).states = ["denied"]
    assert run(["wait", "1", "--exit-zero-on-changes"]) == 0


def test_progress_is_told_in_lines_where_nobody_watches(
    uploaded: FakeServer, capsys: Captured
) -> None:
    uploaded.build(1).states = ["passed"]
    run(["wait", "1"])
    assert "Build 1: passed, 1 of 1 snapshots" in capsys.readouterr().out.splitlines()


def test_a_wait_that_is_over_before_the_build_has_its_code(
    uploaded: FakeServer, capsys: Captured
) -> None:
    uploaded.build(1).states = ["capturing"]
    assert run(["wait", "1", "--timeout", "0"]) == 220
    assert "Run `storyshelf wait 1`, with a longer --timeout." in capsys.readouterr().err


def test_json_is_the_build_and_the_code(uploaded: FakeServer, capsys: Captured) -> None:
    uploaded.build(1).states = ["cancelled"]
    uploaded.build(1).state_reason = "a newer build"
    assert run(["wait", "1", "--json"]) == 6
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["build"]["state_reason"], document["exit_code"], err) == (
        "a newer build",
        6,
        "",
    )


def test_a_build_that_is_not_there_is_the_servers_word(
    server: FakeServer, capsys: Captured
) -> None:
    assert run(["wait", "9"]) == 202
    assert "There is no build 9" in capsys.readouterr().err


def test_another_servers_page_is_not_answered_with_this_ones_build(
    uploaded: FakeServer, capsys: Captured
) -> None:
    assert run(["wait", "http://other.test/projects/demo/builds/1"]) == 254
    assert "another build under that number" in capsys.readouterr().err


@pytest.mark.parametrize("build", ["latest", "0", ""])
def test_what_names_no_build_is_a_wrong_option(
    server: FakeServer, build: str, capsys: Captured
) -> None:
    assert run(["wait", build]) == 254
    assert "neither a build's number nor" in capsys.readouterr().err


def test_a_wait_loads_no_server_package(uploaded: FakeServer) -> None:
    command = [sys.executable, "-c", PROBE, "wait", "1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "heavy: []\n")
