"""The processes that the queue bench drives: ours and each peer's, by JSON lines."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.install import REPOSITORY, peers_python
from storyshelf.errors import StoryshelfError

OURS, PGQUEUER, PROCRASTINATE = "ours", "pgqueuer", "procrastinate"
OF_OURS = {OURS: "bench.queue_ours", "soak": "bench.soak_side"}
LOG_TAIL_CHARACTERS = 2_000
GOODBYE_S = 20


class SideEndedError(StoryshelfError):
    """A measured process ended instead of answering."""

    def __init__(self, name: str, log: Path) -> None:
        super().__init__(
            f"The process of {name} ended instead of answering",
            where=str(log),
            next_step=f"It said: {log.read_text(errors='replace')[-LOG_TAIL_CHARACTERS:]}",
        )


@dataclass(frozen=True, slots=True)
class Side:
    """One process; `ask` has it do one thing and returns what it answers."""

    name: str
    process: "subprocess.Popen[str]"
    log: Path

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Have a deed done and return its answer. Raises SideEndedError."""
        self.tell(do, **arguments)
        return self.answer()

    @property
    def resident_mb(self) -> float:
        """Return the memory that the process holds."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def tell(self, do: str, **arguments: Any) -> None:
        """Have a deed begun; its answer has to be read before the next."""
        assert self.process.stdin is not None, "it is a pipe"
        try:
            print(json.dumps({"do": do, **arguments}), file=self.process.stdin, flush=True)
        except BrokenPipeError as error:
            raise SideEndedError(self.name, self.log) from error

    def answer(self) -> dict[str, Any]:
        """Return the answer to what was told. Raises SideEndedError."""
        assert self.process.stdout is not None, "it is a pipe"
        line = self.process.stdout.readline()
        if not line:
            raise SideEndedError(self.name, self.log)
        answered: dict[str, Any] = json.loads(line)
        return answered


@dataclass(frozen=True, slots=True)
class Pair:
    """Two processes of one queue on its own database: one works, one sends."""

    name: str
    worker: Side
    sender: Side
    database: str
    version: str


def command_of(name: str) -> Sequence[str]:
    """Return what starts a process of that queue, under the interpreter that has it."""
    if name in OF_OURS:
        return [sys.executable, "-m", OF_OURS[name]]
    return [str(peers_python()), "-m", f"bench.peers.{name}_side"]


@contextmanager
def started(name: str, folder: Path) -> Iterator[Side]:
    """Start a process of that queue; it ends with the block."""
    log = folder / f"{name}-{len(list(folder.glob('*.side.log')))}.side.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command_of(name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
            cwd=REPOSITORY,
        )
    try:
        yield Side(name, process, log)
    finally:
        _end(process)


@contextmanager
def pair(name: str, url: str, folder: Path) -> Iterator[Pair]:
    """Start both processes of that queue on the database of that url."""
    with ExitStack() as stack:
        worker = stack.enter_context(started(name, folder))
        sender = stack.enter_context(started(name, folder))
        said = worker.ask("prepare", url=url)
        sender.ask("prepare", url=url)
        yield Pair(name, worker, sender, url.rpartition("/")[2], said["version"])


def _end(process: "subprocess.Popen[str]") -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None, "both are pipes"
        pipe.close()
    try:
        process.wait(GOODBYE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
