"""Whose process ids mean the same, and who of them is gone."""

import os
import subprocess
import sys

from consumer import processes
from consumer.machine import is_gone, own_machine, own_start_ticks

WAITS = "import sys; print('up', flush=True); sys.stdin.read()"
TELLS = "from consumer.machine import own_machine; print(own_machine())"


def test_two_processes_side_by_side_are_on_one_machine() -> None:
    told = subprocess.run([sys.executable, "-c", TELLS], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == own_machine() != ""


def test_in_a_process_namespace_of_its_own_it_is_another_machine() -> None:
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork", sys.executable]
    told = subprocess.run([*inside, "-c", TELLS], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() != own_machine()


def test_who_lives_is_not_gone() -> None:
    assert not is_gone(os.getpid(), own_start_ticks())
    assert not is_gone(1, processes.start_ticks(1))


def test_an_id_that_was_given_out_again_is_another_process() -> None:
    assert is_gone(os.getpid(), own_start_ticks() - 1)


def test_who_was_killed_is_gone_even_before_it_is_reaped() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        started.stdout.readline()
        began = processes.start_ticks(started.pid)
        assert not is_gone(started.pid, began)
        started.kill()
        processes.wait_gone([started.pid], 10)
        assert is_gone(started.pid, began)
    assert is_gone(started.pid, began)
