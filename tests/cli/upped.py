"""`storyshelf up` as a process of its own, on a data folder that outlives it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from consumer.processes import descendants, is_dead
from storyshelf.db.cluster import read_run_file
from storyshelf.db.embedded import EmbeddedPostgres

WITHIN_S = 60.0
LOOK_S = 0.05
OURS = ("STORYSHELF_", "CI")
PROGRAM = Path(sys.executable).with_name("storyshelf")


def eventually(fact: Callable[[], object]) -> None:
    """Look until it is so; fail if it never is."""
    deadline = time.monotonic() + WITHIN_S
    while not fact():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(LOOK_S)


@dataclass
class Up:
    """One run of it, and what it said when it was up."""

    process: "subprocess.Popen[bytes]"
    data_dir: Path
    out: Path
    err: Path

    @property
    def said(self) -> dict[str, Any]:
        """The document that it prints once it is up."""
        eventually(lambda: self.out.read_text().endswith("\n") or self.process.poll() is not None)
        assert self.out.read_text(), self.complaints
        found: dict[str, Any] = json.loads(self.out.read_text())
        return found

    @property
    def complaints(self) -> str:
        return self.err.read_text()

    @property
    def database_pid(self) -> int:
        pid = read_run_file(EmbeddedPostgres(self.data_dir).files.run).get("pid", 0)
        assert isinstance(pid, int)
        return pid

    @property
    def everyone(self) -> set[int]:
        """Every process that belongs to it, the database included."""
        return {self.process.pid, self.database_pid, *descendants(self.process.pid)}

    def pid_of(self, module: str) -> int | None:
        """The process it keeps for that module; None while there is none."""
        found = [pid for pid in descendants(self.process.pid) if module in command_of(pid)]
        return min(found, default=None)

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.said['url']}/health/ready", trust_env=False).is_success
        except httpx.HTTPError:
            return False

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        return self.process.wait(WITHIN_S)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def all_dead(pids: set[int]) -> bool:
    return all(is_dead(pid) for pid in pids)


@contextmanager
def up(data_dir: Path, *words: str, **variables: str) -> Iterator[Up]:
    """Start it; whatever of it is left after the block is killed, so that no test leaves any."""
    folder = data_dir / "tests"
    folder.mkdir(exist_ok=True)
    name = f"{len(list(folder.iterdir())):04}"
    out, err = folder / f"{name}.out", folder / f"{name}.err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [str(PROGRAM), "up", "--json", "--port", "0", *words],
            env=environment(data_dir, variables),
            stdout=stdout,
            stderr=stderr,
        )
    started = Up(process, data_dir, out, err)
    try:
        yield started
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(WITHIN_S)


def environment(data_dir: Path, variables: Mapping[str, str]) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    own = {f"STORYSHELF_{name.upper()}": value for name, value in variables.items()}
    return inherited | {"STORYSHELF_DATA_DIR": str(data_dir)} | own
