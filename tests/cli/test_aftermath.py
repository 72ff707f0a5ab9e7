"""What is done behind an `up` that was killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consumer.processes import is_dead
from storyshelf.cli.aftermath import DONE, main

READY = "print('on', flush=True); "
GENTLE = f"{READY}import time; time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {READY}signal.pause()"


@contextmanager
def a_process(code: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_what_was_started_is_asked_to_end(tmp_path: Path) -> None:
    with a_process(GENTLE) as left:
        main(tmp_path, 30, [f"{left.pid}\n"])
        assert left.wait() == -signal.SIGTERM


def test_what_does_not_end_within_the_grace_is_killed(tmp_path: Path) -> None:
    with a_process(STUBBORN) as left:
        main(tmp_path, 0.2, [f"{left.pid}\n"])
        assert left.wait() == -signal.SIGKILL


def test_nothing_is_touched_after_an_end_in_order(tmp_path: Path) -> None:
    with a_process(GENTLE) as other:
        main(tmp_path, 30, [f"{other.pid}\n", f"{DONE}\n"])
        assert not is_dead(other.pid)


def test_one_that_has_ended_long_ago_is_no_trouble(tmp_path: Path) -> None:
    with a_process(READY) as ended:
        ended.wait()
        main(tmp_path, 30, [f"{ended.pid}\n"])


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_stays_at_its_post_until_up_is_gone(tmp_path: Path, sign: signal.Signals) -> None:
    command = [sys.executable, "-m", "storyshelf.cli.aftermath", str(tmp_path), "30"]
    with a_process(GENTLE) as left:
        behind = subprocess.Popen(command, stdin=subprocess.PIPE)
        assert behind.stdin is not None
        behind.stdin.write(f"{left.pid}\n".encode())
        behind.stdin.flush()
        wait_until_ignored(behind.pid, sign)
        behind.send_signal(sign)
        assert not is_dead(left.pid)
        behind.communicate()
        assert (behind.returncode, left.wait()) == (0, -signal.SIGTERM)


def wait_until_ignored(pid: int, sign: signal.Signals) -> None:
    while not ignored(pid) & (1 << (sign - 1)):
        os.sched_yield()


def ignored(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigIgn:"):
            return int(line.split()[1], 16)
    return 0
