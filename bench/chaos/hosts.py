"""Processes that a scenario starts, held by descriptors that never mean somebody else's process."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.chaos.consumer import Orders
from bench.chaos.diary import Diary

REPOSITORY = Path(__file__).resolve().parents[2]
END_WITHIN_S = 5.0
PRODUCT_PREFIXES = ("STORYSHELF_", "PYTHONPATH")  # what a developer's shell may have set


@dataclass(frozen=True, slots=True)
class Started:
    """A consumer that was started; its end is seen on the descriptor."""

    name: str
    pid: int
    pidfd: int
    diary: Diary

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return not select.select([self.pidfd], [], [], 0)[0]

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there."""
        try:
            signal.pidfd_send_signal(self.pidfd, number)
        except ProcessLookupError:
            return

    def end(self) -> None:
        """Kill it if it is still there, and forget it."""
        self.send(signal.SIGKILL)
        select.select([self.pidfd], [], [], END_WITHIN_S)
        os.close(self.pidfd)


@dataclass(slots=True)
class Host:
    """One nursery and what it has forked."""

    process: subprocess.Popen[bytes]

    def start(self, orders: Orders) -> Started:
        """Fork a consumer off; blocks for the milliseconds that it takes."""
        assert self.process.stdin is not None, "it was asked for"
        self.process.stdin.write(json.dumps(orders.as_json()).encode() + b"\n")
        self.process.stdin.flush()
        pid = int(self.line())
        return Started(orders.name, pid, os.pidfd_open(pid), Diary(Path(orders.log)))

    def line(self) -> bytes:
        """Return the next line that it says; the first says that it has imported the product."""
        assert self.process.stdout is not None, "it was asked for"
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("The nursery ended; what it said stands above.")
        return line


@contextmanager
def a_host(environment: Mapping[str, str] | None = None) -> Iterator[Host]:
    """Start a nursery, and end it with everything it has forked."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(PRODUCT_PREFIXES)}
    with subprocess.Popen(
        [sys.executable, "-m", "bench.chaos.nursery"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
        env={**kept, **(environment or {})},
    ) as process:  # at its end stdin is closed, and so is the nursery
        host = Host(process)
        host.line()
        yield host
