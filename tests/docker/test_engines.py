"""A machine that cannot build is told the one line that mends it; a failed step shows its words."""

import sys
from pathlib import Path

import pytest

from docker.commands import CommandFailedError, ask, succeeds
from docker.engines import NoEngineError, chosen_engine


def test_without_an_engine_the_line_that_mends_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoEngineError) as refused, chosen_engine(tmp_path, tmp_path):
        pass
    assert "buildah is missing" in refused.value.what
    assert "apt-get install -y buildah debootstrap" in refused.value.next_step


def test_a_step_that_fails_shows_what_was_said() -> None:
    with pytest.raises(CommandFailedError, match="no room left"):
        ask(sys.executable, "-c", "raise SystemExit('no room left')")


def test_what_does_not_answer_in_time_does_not_count() -> None:
    assert not succeeds([sys.executable, "-c", "import time; time.sleep(30)"], within_s=0.5)
    assert succeeds([sys.executable, "-c", ""], within_s=30)
