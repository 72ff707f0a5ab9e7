"""A Storybook of which one story in ten does its worst, through the real supervisor and children.

Every story is accounted for, the plain ones look as they do without any hazard, browsers are
replaced only where a page could not be had back, and memory stays level.
"""

import asyncio
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from structlog.testing import capture_logs

from bench.machine import cores, machine
from bench.report import Length, Report, table
from bench.survival_book import OK, Cast, Plot, cast, lay
from consumer import allowance, processes
from consumer.browsers import find_browser, system_search
from consumer.isolation import Ground, Isolation, choose_isolation
from consumer.local.out_folder import open_out
from consumer.local.session import Session, Wanted, Work
from consumer.local.storybook import read_storybook
from consumer.memory import used_bytes
from consumer.requests import Limits, memory_ceiling_bytes
from consumer.scratch import open_scratch
from consumer.slot_uids import SlotUids, locks_folder
from consumer.supervisor import Supervisor
from storyshelf.bundle.parameters import Viewport
from storyshelf.clock import SystemClock

PLOTS = {Length.QUICK: Plot(150), Length.FULL: Plot(1_000)}
LOOK_EVERY_S = 1.0
MOST_RESTARTS = 2  # of browsers, with no crash that forced them
LEVEL = 1.2  # times the middle third's memory, and it counts as level
ROLE = re.compile(rb"[\0 ]--type=")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a story ended: its code, empty where it has a picture, and the picture."""

    code: str
    png: bytes


@dataclass(slots=True)
class Watched:
    """What was seen of the processes from outside."""

    used_mb: list[float] = field(default_factory=list)
    browsers: set[tuple[int, int]] = field(default_factory=set)

    def look(self) -> None:
        """Look at all below this process."""
        tree = processes.descendants(os.getpid())
        self.used_mb.append(used_bytes(tree) / 2**20)
        self.browsers.update((pid, processes.start_ticks(pid)) for pid in tree if is_browser(pid))

    def thirds(self) -> Sequence[float]:
        """Return the medians of the three thirds of the time."""
        cut = max(1, len(self.used_mb) // 3)
        parts = (self.used_mb[:cut], self.used_mb[cut : 2 * cut], self.used_mb[2 * cut :])
        return [median(part) if part else 0.0 for part in parts]


@dataclass(frozen=True, slots=True)
class Survived:
    """One run over the hazards, and the same plain stories without them."""

    cast: Cast
    ended: Mapping[str, Ended]
    alone: Mapping[str, Ended]
    watched: Watched
    deaths: Mapping[str, int]  # of children, by how
    children: int  # that were started
    wall_s: float


def is_browser(pid: int) -> bool:
    """Tell whether it is a browser's first process, not one of those that the browser starts."""
    try:
        line = (processes.PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False
    starts = b"headless" in line.partition(b"\0")[0] and b"--user-data-dir=" in line
    return starts and not ROLE.search(line)


def run(length: Length) -> Report:
    """Run it, say how each hazard ended, and judge."""
    facts = machine()
    print(f"survival: {PLOTS[length].stories} stories, a hazard in ten", flush=True)
    survived = asyncio.run(survive(PLOTS[length]))
    report = report_of(survived, {**facts, "load_at_end": machine()["load"]})
    show(report)
    return report


async def survive(plot: Plot) -> Survived:
    """Capture the plain stories alone, then all of them with the hazards in between."""
    whole = cast(plot)
    with (
        TemporaryDirectory(prefix="storyshelf-bench-") as temporary,
        open_scratch(Path(gettempdir())) as scratch,
    ):
        browser = find_browser(None, system_search(os.environ))
        ground = Ground(browser, scratch, SlotUids(locks_folder()), os.environ)
        isolation = await choose_isolation(ground)
        folder = Path(temporary)
        with capture_logs():
            alone = await _captured(isolation, whole.plain(), plot, folder / "alone")
        print("  the plain stories alone are shot", flush=True)
        began = time.monotonic()
        with capture_logs() as said, _watching() as watched:
            ended = await _captured(isolation, whole, plot, folder / "whole")
        events = [each for each in said if each["event"] == "child.ended"]
        deaths = Counter(str(each["how"]) for each in events if each["how"] != "stopped")
        return Survived(whole, ended, alone, watched, deaths, len(events), time.monotonic() - began)


async def _captured(
    isolation: Isolation, acting: Cast, plot: Plot, folder: Path
) -> Mapping[str, Ended]:
    storybook = read_storybook(lay(acting, folder), lambda _, __: None)
    slots = cores()
    wanted = Wanted(storybook.stories, frozenset(), Viewport(640, 480), 1, slots, plot.timeout_ms)
    ceiling = memory_ceiling_bytes(allowance.memory_bytes(), slots)
    with open_out(folder.with_name(f"{folder.name}-out"), folder) as out:
        async with asyncio.TaskGroup() as group:
            limits = Limits(slots=slots, memory_bytes=ceiling)
            supervisor = Supervisor(group, SystemClock(), isolation, limits)
            try:
                work = Work(storybook, wanted, out)
                session = Session(supervisor, work, SystemClock(), lambda _, __: None)
                await session.run()
            finally:
                await supervisor.close()
        if session.failure is not None:
            raise session.failure
        results = [tally.result() for tally in session.tallies if tally.shots]
        return {
            each.id: Ended(
                OK if each.error is None else each.error.code,
                out.read(each.picture) if each.picture else b"",
            )
            for each in results
        }


@contextmanager
def _watching() -> Iterator[Watched]:
    watched, over = Watched(), threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_EVERY_S):
            watched.look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield watched
    finally:
        over.set()
        thread.join()


def report_of(survived: Survived, facts: Mapping[str, Any]) -> Report:
    """Judge what came of it."""
    ended, thirds = survived.ended, survived.watched.thirds()
    died = sum(survived.deaths.values())
    browsers = len(survived.watched.browsers)
    restarts = max(0, browsers - survived.children) + max(0, survived.children - died - cores())
    wrong = [
        f"{name}: {ended[name].code or 'a picture'}"
        for name, hazard in survived.cast.hazards.items()
        if name in ended and ended[name].code not in hazard.codes
    ]
    moved = [name for name, alone in survived.alone.items() if ended.get(name) != alone]
    missing = [name for name in survived.cast.stories if name not in ended]
    unwell = [name for name, alone in survived.alone.items() if alone.code or not alone.png]
    growth = thirds[2] / thirds[1] if thirds[1] else 0.0
    return Report(
        bench="survival",
        ratios={"memory_last_vs_middle": growth},
        figures={
            "stories": len(survived.cast.stories),
            "hazards": len(survived.cast.hazards),
            "missing": missing,
            "wrong_endings": wrong,
            "unlike_alone": moved,
            "unwell_alone": unwell,
            "deaths_of_children": dict(survived.deaths),
            "children": survived.children,
            "browsers": browsers,
            "restarts_unforced": restarts,
            "memory_mb_by_thirds": thirds,
            "stories_per_s": len(ended) / survived.wall_s,
            "endings": _endings(survived),
            "machine": dict(facts),
        },
        is_good=not (missing or wrong or moved or unwell)
        and restarts <= MOST_RESTARTS
        and growth <= LEVEL,
    )


def _endings(survived: Survived) -> Mapping[str, Mapping[str, int]]:
    """Count how often a hazard of each kind ended how."""
    found: dict[str, Counter[str]] = {}
    for name in survived.cast.hazards:
        code = survived.ended[name].code if name in survived.ended else "missing"
        found.setdefault(name[: -len("-0000--story")], Counter())[code or "ok"] += 1
    return {kind: dict(codes) for kind, codes in sorted(found.items())}


def show(report: Report) -> None:
    """Print how the hazards ended, and the sum."""
    figures = report.figures
    rows = [
        [kind, *("  ".join(f"{code} {times}" for code, times in codes.items()),)]
        for kind, codes in figures["endings"].items()
    ]
    print(table(["hazard", "ended"], rows))
    for name in ("missing", "wrong_endings", "unlike_alone", "unwell_alone"):
        print(f"{name.replace('_', ' ')}: {len(figures[name])}  {', '.join(figures[name][:5])}")
    thirds = ", ".join(f"{each:.0f}" for each in figures["memory_mb_by_thirds"])
    print(f"memory by thirds, MiB: {thirds}")
    print(
        f"{figures['browsers']} browsers in {figures['children']} children,"
        f" {figures['restarts_unforced']} restarts that no crash forced,"
        f" deaths: {figures['deaths_of_children'] or 'none'}\n"
    )
