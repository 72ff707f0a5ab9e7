"""The folder of a consumer's children: entered by other uids, locked, swept after a kill."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from consumer.scratch import PREFIX, open_scratch, reachable_by_others, sweep


@pytest.fixture
def reachable() -> Path:
    return Path("/tmp")


def test_a_folder_below_one_that_is_closed_cannot_be_reached(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "open").mkdir(parents=True)
    closed.chmod(0o700)
    assert not reachable_by_others(closed / "open")
    assert not reachable_by_others(tmp_path / "missing")


def test_what_every_uid_can_enter_can_be_reached() -> None:
    assert reachable_by_others(Path("/tmp"))


def test_the_scratch_is_made_elsewhere_if_others_cannot_reach_the_preferred(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o700)
    with open_scratch(tmp_path) as folder:
        assert not folder.is_relative_to(tmp_path)
        assert reachable_by_others(folder)
        assert not folder.stat().st_mode & stat.S_IROTH
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    with open_scratch(tmp_path) as folder:
        (folder / "cell").mkdir()
    assert not folder.exists()


def test_a_sweep_removes_what_a_killed_consumer_left(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}dead"
    left.mkdir()
    (left / "lock").touch()
    sweep(tmp_path)
    assert not left.exists()


def test_a_sweep_leaves_the_living_alone(tmp_path: Path) -> None:
    living = tmp_path / f"{PREFIX}alive"
    living.mkdir()
    script = (
        "import fcntl, sys; lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX);"
        "print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(living / "lock")]
    with subprocess.Popen(command, stdin=-1, stdout=-1) as consumer:
        assert consumer.stdout is not None
        consumer.stdout.readline()
        sweep(tmp_path)
        assert living.exists()
        consumer.kill()
    sweep(tmp_path)
    assert not living.exists()


def test_a_folder_without_a_lock_is_not_ours_to_remove(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}other").mkdir()
    sweep(tmp_path)
    assert (tmp_path / f"{PREFIX}other").exists()
