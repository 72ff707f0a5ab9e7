"""Small real processes are kept, ended and killed."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from consumer.processes import is_dead
from storyshelf.cli.supervise import Keeper, Program
from storyshelf.clock import SystemClock

STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("on", flush=True)
signal.pause()
"""
LAST_WORDS = """
import signal, sys
def end(*_):
    print("let go", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("on", flush=True)
signal.pause()
"""


class Told:
    """What a keeper said, and whom it started."""

    def __init__(self, kill_after_s: float = 30) -> None:
        self.lines: list[str] = []
        self.pids: list[int] = []
        self.keeper = Keeper(SystemClock(), self.lines.append, self.pids.append, kill_after_s)


def program(tmp_path: Path, code: str, name: str = "server") -> Program:
    return Program(name, (sys.executable, "-c", code), {}, tmp_path / f"{name}.log")


async def until(fact: Callable[[], object]) -> None:
    clock = SystemClock()
    while not fact():
        await clock.sleep(0.01)


def words(kept: Program) -> list[str]:
    return kept.log.read_text().splitlines() if kept.log.exists() else []


async def test_one_that_ends_is_started_again_and_that_is_said(tmp_path: Path) -> None:
    told, kept = Told(), program(tmp_path, "import sys; sys.exit(7)")
    async with told.keeper.keeping([kept]):
        await until(lambda: len(told.pids) >= 2)
    assert told.lines[0] == (
        f"server ended with code 7; it starts again in 0.5 s. Its log: {kept.log}"
    )


async def test_at_the_end_it_is_asked_and_may_let_go_in_order(tmp_path: Path) -> None:
    told, kept = Told(), program(tmp_path, LAST_WORDS)
    async with told.keeper.keeping([kept]):
        await until(lambda: words(kept) == ["on"])
    assert words(kept) == ["on", "let go"]
    assert is_dead(told.pids[0])
    assert "killed" not in " ".join(told.lines)


async def test_one_that_will_not_end_is_killed(tmp_path: Path) -> None:
    told, kept = Told(kill_after_s=0.2), program(tmp_path, STUBBORN)
    async with told.keeper.keeping([kept]):
        await until(lambda: words(kept) == ["on"])
    assert told.lines[-1] == "server did not end within 0.2 s: killed."
    assert is_dead(told.pids[0])


async def test_a_block_that_fails_leaves_nobody(tmp_path: Path) -> None:
    told, kept = Told(), program(tmp_path, LAST_WORDS)

    async def fail() -> None:
        async with told.keeper.keeping([kept]):
            await until(lambda: words(kept) == ["on"])
            raise RuntimeError("not foreseen")

    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        await fail()
    assert is_dead(told.pids[0])


async def test_last_words_reach_the_terminal_before_the_news_of_the_end(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('Error: no browser\\n'); sys.exit(3)"
    told, kept = Told(), program(tmp_path, code, "consumer-1")
    async with told.keeper.keeping([kept]):
        await until(lambda: len(told.lines) >= 2)
    assert told.lines == [
        "consumer-1: Error: no browser",
        "consumer-1 cannot work until that is mended; next try in 60 s.",
    ]


async def test_a_cancelled_start_leaves_nobody(tmp_path: Path) -> None:
    told, kept = Told(), program(tmp_path, LAST_WORDS)
    entered = asyncio.Event()

    async def keep() -> None:
        async with told.keeper.keeping([kept]):
            entered.set()
            await asyncio.Event().wait()

    keeping = asyncio.create_task(keep())
    await entered.wait()
    await until(lambda: told.pids)
    keeping.cancel()
    await asyncio.wait([keeping])
    assert is_dead(told.pids[0])
