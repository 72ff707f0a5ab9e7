"""The folder of a consumer's children: entered by other uids, locked, swept after a kill."""

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consumer.orphans import end_orphans
from consumer.scratch import PREFIX, open_scratch, reachable_by_others, sweep, sweep_beside


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


def test_nobody_else_can_hold_the_lock(tmp_path: Path) -> None:
    """A browser that outlives its consumer would seem to be a living one, and stay for ever."""
    with open_scratch(tmp_path) as folder:
        assert stat.S_IMODE((folder / "lock").stat().st_mode) == 0o600


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


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that every uid can enter, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def living(base: Path, name: str) -> Iterator[Path]:
    """A consumer that lives, as far as its folder knows."""
    folder = base / f"{PREFIX}{name}"
    folder.mkdir()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


@contextmanager
def browser_in(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that calls a cell of this folder its home, and writes there without end."""
    home = folder / "cell-1" / "home"
    home.mkdir(parents=True)
    script = 'while :; do echo x >> "$HOME/profile"; sleep 0.01; done'
    command = ["/bin/sh", "-c", script]
    environment = {"HOME": str(home), "PATH": os.defpath}
    with subprocess.Popen(command, env=environment, start_new_session=True) as browser:
        try:
            while not (home / "profile").exists():  # until then it may have no environment to read
                time.sleep(0.01)
            yield browser
        finally:
            browser.kill()


def test_of_three_owners_only_the_dead_one_loses_its_folder_and_its_browser(
    tmp_path: Path,
) -> None:
    dead = tmp_path / f"{PREFIX}dead"
    dead.mkdir()
    (dead / "lock").touch()
    with (
        living(tmp_path, "one") as one,
        living(tmp_path, "other") as other,
        browser_in(one) as ones,
        browser_in(other) as others,
        browser_in(dead) as orphan,
    ):
        sweep(tmp_path)
        assert orphan.wait(5) == -signal.SIGKILL
        assert not dead.exists()
        assert ones.poll() is others.poll() is None
        assert (one / "cell-1").is_dir()
        assert (other / "cell-1").is_dir()


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


def test_a_consumer_that_begins_waits_for_no_orphan(open_to_all: Path) -> None:
    dead = open_to_all / f"{PREFIX}dead"
    dead.mkdir()
    (dead / "lock").touch()
    with browser_in(dead) as orphan, open_scratch(open_to_all) as own:
        assert own.parent == open_to_all
        assert orphan.poll() is None
        assert dead.exists()


async def test_what_was_left_is_swept_beside_the_rest(open_to_all: Path) -> None:
    dead = open_to_all / f"{PREFIX}dead"
    dead.mkdir()
    (dead / "lock").touch()
    with browser_in(dead) as orphan, open_scratch(open_to_all) as own:
        await sweep_beside(own)
        assert orphan.wait(5) == -signal.SIGKILL
        assert not dead.exists()
        assert own.exists()


def test_a_sweep_that_is_over_kills_once_and_leaves_the_folder_to_the_next(tmp_path: Path) -> None:
    dead = tmp_path / f"{PREFIX}dead"
    dead.mkdir()
    (dead / "lock").touch()
    over = threading.Event()
    over.set()
    with browser_in(dead) as orphan:
        outlived = end_orphans(dead, tmp_path, over)
        assert orphan.pid not in outlived  # a process that it has just forked may be
        assert orphan.wait(5) == -signal.SIGKILL
        sweep(tmp_path, over)
        assert dead.exists()


def test_a_sweep_that_breaks_off_leaves_the_lock_by_which_the_next_one_knows_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = tmp_path / f"{PREFIX}dead"
    (dead / "cell-1").mkdir(parents=True)
    (dead / "lock").touch()
    with monkeypatch.context() as broken:
        broken.setattr(shutil, "rmtree", no_rights)
        sweep(tmp_path)
    assert (dead / "lock").exists()
    sweep(tmp_path)
    assert not dead.exists()


def no_rights(_folder: Path) -> None:
    raise PermissionError


def test_a_folder_without_a_lock_is_not_ours_to_remove(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}other").mkdir()
    sweep(tmp_path)
    assert (tmp_path / f"{PREFIX}other").exists()
