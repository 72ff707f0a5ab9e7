"""What can be seen of other processes, and how they are ended."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from consumer import processes

WAITS = "import sys; print('up', flush=True); sys.stdin.read()"
HAS_A_CHILD = (
    "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import sys; "
    "sys.stdin.read()'], start_new_session=True); print(p.pid, flush=True); sys.stdin.read()"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def running(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", HAS_A_CHILD],
        env={"HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as started:
        yield started
        processes.kill_all(processes.descendants(started.pid) | {started.pid})


def grandchild_of(started: subprocess.Popen[bytes]) -> int:
    assert started.stdout is not None
    return int(started.stdout.readline())


def test_descendants_are_found_whatever_their_session(running: subprocess.Popen[bytes]) -> None:
    grandchild = grandchild_of(running)
    assert processes.descendants(running.pid) == {grandchild}
    assert {running.pid, grandchild} <= processes.descendants(os.getpid())


def test_a_family_is_who_is_below_and_who_has_its_uid(running: subprocess.Popen[bytes]) -> None:
    grandchild = grandchild_of(running)
    assert processes.family(running.pid, 4_000_000_000) == {running.pid, grandchild}
    assert os.getpid() in processes.family(running.pid, os.getuid())


def test_a_name_is_not_taken_for_what_stands_after_it() -> None:
    """A process may name itself as it likes."""
    renamed = (
        "import ctypes; ctypes.CDLL(None).prctl(15, b'State:\\tZ\\nUid:\\t7', 0, 0, 0);" + WAITS
    )
    command = [sys.executable, "-c", renamed]
    with subprocess.Popen(command, stdin=-1, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        assert started.pid in processes.family(os.getpid(), 7)
        assert os.getpid() not in processes.family(started.pid, 7)
        started.kill()


def test_who_lives_at_a_home_is_found_by_it(running: subprocess.Popen[bytes], home: Path) -> None:
    grandchild = grandchild_of(running)
    assert processes.at_home(home) == {running.pid, grandchild}
    assert processes.at_home(home.parent) == frozenset()


def test_who_runs_under_a_uid_is_found(running: subprocess.Popen[bytes]) -> None:
    assert running.pid in processes.under_uid(os.getuid())
    assert processes.under_uid(4_000_000_000) == frozenset()


def test_who_still_runs_after_the_wait_is_returned(running: subprocess.Popen[bytes]) -> None:
    assert processes.wait_gone([running.pid], 0.01) == {running.pid}


def test_the_killed_are_gone_before_they_are_reaped(running: subprocess.Popen[bytes]) -> None:
    grandchild = grandchild_of(running)
    processes.kill_all([running.pid, grandchild])
    assert processes.wait_gone([running.pid, grandchild], 10) == frozenset()
    assert processes.is_dead(running.pid)


def test_who_is_not_there_is_gone_and_dead() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    processes.kill_all([ended.pid])
    assert processes.is_dead(ended.pid)
    assert processes.wait_gone([ended.pid], 10) == frozenset()


def test_the_living_are_not_dead() -> None:
    assert not processes.is_dead(os.getpid())


def test_memory_is_the_sum_of_all_named() -> None:
    own = processes.resident_bytes([os.getpid()])
    assert own > 1 << 20
    assert processes.resident_bytes([]) == 0
    assert processes.resident_bytes([os.getpid(), os.getppid()]) > own


def test_kills_for_want_of_memory_are_read_from_the_counter(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    assert processes.oom_kills(tmp_path / "memory.events") == 2


def test_without_a_counter_nothing_was_killed(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert processes.oom_kills(None) == 0
    assert processes.oom_kills(tmp_path / "empty") == 0


def test_this_machine_has_a_counter_that_can_be_read() -> None:
    counter = processes.oom_counter()
    assert counter is not None
    assert processes.oom_kills(counter) >= 0
