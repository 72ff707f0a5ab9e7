"""A pid file is believed only where a living process works in its folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storyshelf.db.server_process import drop_stale_pid_file, live_pid


@pytest.fixture
def pid_file(tmp_path: Path) -> Path:
    return tmp_path / "postmaster.pid"


def test_without_a_file_nobody_lives(pid_file: Path) -> None:
    assert live_pid(pid_file, None) is None


def test_a_torn_file_names_nobody(pid_file: Path) -> None:
    pid_file.write_text("\n")
    assert live_pid(pid_file, None) is None


def test_a_process_in_the_folder_is_the_server(pid_file: Path) -> None:
    with waiting_in(pid_file.parent) as process:
        pid_file.write_text(f"{process.pid}\n/data\n")
        assert live_pid(pid_file, None) == process.pid
        drop_stale_pid_file(pid_file, None)
        assert pid_file.exists()
        process.communicate()


def test_a_process_elsewhere_is_a_stranger(pid_file: Path) -> None:
    pid_file.write_text(f"{os.getpid()}\n")
    assert live_pid(pid_file, None) is None


def test_a_zombie_does_not_live(pid_file: Path) -> None:
    with waiting_in(pid_file.parent) as process:
        pid_file.write_text(f"{process.pid}\n")
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it stays unreaped
        assert live_pid(pid_file, None) is None


def test_a_file_that_nobody_stands_behind_is_dropped(pid_file: Path) -> None:
    pid_file.write_text(f"{os.getpid()}\n")
    drop_stale_pid_file(pid_file, None)
    assert not pid_file.exists()


def test_a_child_that_outlives_a_killed_server_keeps_the_file(pid_file: Path) -> None:
    pid_file.write_text("999999999\n")
    with waiting_in(pid_file.parent) as child:
        drop_stale_pid_file(pid_file, None)
        assert pid_file.exists()
        child.communicate()


def waiting_in(folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that works in the folder until its input ends."""
    wait = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    return subprocess.Popen(wait, cwd=folder, stdin=subprocess.PIPE)
