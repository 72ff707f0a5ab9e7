"""How much memory processes take together: what they share is counted once."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import MAP_ANONYMOUS, MAP_SHARED, mmap
from pathlib import Path

from consumer import memory, processes

SHARED_BYTES = 64 << 20


@contextmanager
def two_that_share() -> Iterator[list[int]]:
    """Us and a fork of us, both holding one large piece of memory."""
    piece = mmap(-1, SHARED_BYTES, MAP_SHARED | MAP_ANONYMOUS)
    piece.write(b"x" * SHARED_BYTES)
    told, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        bytes(piece)
        os.write(tells, b"!")
        signal.pause()
    os.read(told, 1)
    try:
        yield [os.getpid(), pid]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(told)
        os.close(tells)
        piece.close()


def test_what_two_processes_share_is_counted_once() -> None:
    with two_that_share() as pids:
        assert memory.used_bytes(pids) < processes.resident_bytes(pids) - SHARED_BYTES // 2


def test_where_the_share_is_not_shown_the_resident_size_counts(tmp_path: Path) -> None:
    own = [os.getpid()]
    assert memory.used_bytes(own, proc=tmp_path) >= processes.resident_bytes(own) // 2


def test_a_process_that_has_ended_takes_nothing() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert memory.used_bytes([pid]) == 0
