"""`make up`, as it is run from a clone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storyshelf.db.embedded import EmbeddedPostgres, ServerState
from tests.cli.upped import environment
from tests.db.server import a_data_folder

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


@pytest.fixture
def folder() -> Iterator[Path]:
    with a_data_folder() as made:
        yield made
        EmbeddedPostgres(made).stop()


def try_it(folder: Path, **switches: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "examples.try_it"],
        env=environment(folder, {"port": "0"}) | {"ONCE": "1", **switches},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_shows_its_builds_and_shows_them_again(folder: Path) -> None:
    first = try_it(folder)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "Build 1: exit code 0, accepted: by the rule `first build`" in first.stdout
    assert "Build 2: exit code 1, pending: 6 changes to decide" in first.stdout
    again = try_it(folder, BROKEN="1")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Build 3: exit code 0, passed" in again.stdout
    assert "Build 4: exit code 2, broken: 1 story not captured; 6 changes" in again.stdout
    assert EmbeddedPostgres(folder).status().state is ServerState.STOPPED
