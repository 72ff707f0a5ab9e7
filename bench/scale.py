"""A full house: 200 live consumers, and a million queued shards of 2,000 builds.

Beside it stands a queue of a thousand jobs with the same consumers, and everything is measured of
both in turns: a claim, the operations page, and what a consumer's memory does meanwhile.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.machine import machine
from bench.queue_full import captured_builds, queue_up
from bench.queue_ratios import Rounds
from bench.queue_server import Server, running_server
from bench.queue_sides import started
from bench.report import Length, Report, table
from bench.scale_house import CONSUMERS, House, claimed, register, sweep
from bench.scale_page import pages_ms
from bench.series import Point, last_half, slope_per_s
from storyshelf.db.engine import Database
from tests.db.server import from_sync

MOST = 1.2  # times what a small queue takes
MOST_MB = 1.0  # in ten minutes
WORK = {"name": "remembering", "places": {"noop": 10}, "takes_s": 0.05}


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is, and how often it is measured."""

    queued: int
    builds: int
    rounds: int
    pages: int
    memory_s: float


EXTENTS = {
    Length.QUICK: Extent(queued=1_000_000, builds=2_000, rounds=3, pages=7, memory_s=90),
    Length.FULL: Extent(queued=1_000_000, builds=2_000, rounds=5, pages=15, memory_s=1_200),
}
FEW = 1_000


def run(length: Length) -> Report:
    """Measure, print the table, and return the ratios."""
    extent, facts = EXTENTS[length], machine()
    print(f"scale: {CONSUMERS} consumers, {extent.queued:,} queued beside {FEW:,}", flush=True)
    with running_server() as server:
        urls = [_filled(server, extent, name) for name in ("ours_many", "ours_few")]
        rounds = from_sync(_in_turns(server, urls, extent))
        grown = memory(server, urls[0], extent.memory_s)
    report = report_of(rounds, grown, {**facts, "load_at_end": machine()["load"]})
    show(rounds, report)
    return report


def report_of(rounds: Rounds, grown: Sequence[Point], facts: Mapping[str, Any]) -> Report:
    """Return what the last line says."""
    half = last_half(grown)
    claim = rounds.ratio("claim_ms", "ours_many", "ours_few")
    page = rounds.ratio("page_ms", "ours_many", "ours_few")
    assert claim is not None, "both houses were claimed from in each round"
    assert page is not None, "both servers were asked for the page"
    return Report(
        bench="scale",
        ratios={"claim_1m_vs_1k": claim, "page_1m_vs_1k": page},
        figures={
            "many": rounds.medians("ours_many"),
            "few": rounds.medians("ours_few"),
            "mb_per_10min": 600 * slope_per_s(half),
            "memory_mb": half[-1].value,
            "memory_looked_at_s": grown[-1].at_s,
            "machine": dict(facts),
        },
    )


def show(rounds: Rounds, report: Report) -> None:
    """Print both houses side by side."""
    many, few = rounds.medians("ours_many"), rounds.medians("ours_few")
    rows = [[name, f"{many[name]:.3f}", f"{few[name]:.3f}"] for name in many]
    print("", table(["", "a million", "a thousand"], rows), "", sep="\n")
    for key, ratio in report.ratios.items():
        print(f"{key}: {ratio:.2f}, at most {MOST:g}: {'met' if ratio <= MOST else 'MISSED'}")
    grew = report.figures["mb_per_10min"]
    verdict = "met" if grew < MOST_MB else "MISSED"
    print(f"memory of a consumer: {grew:+.2f} MB in 10 minutes, under {MOST_MB:g}: {verdict}\n")


def _filled(server: Server, extent: Extent, name: str) -> str:
    url = server.database(name)
    captured_builds(url, extent.builds)
    queued = extent.queued if name == "ours_many" else FEW
    queue_up(url, queued, of_a_build=max(1, queued // extent.builds))
    return url


async def _in_turns(server: Server, urls: Sequence[str], extent: Extent) -> Rounds:
    rounds = Rounds()
    houses = [House(url.rpartition("/")[2], Database(url)) for url in urls]
    try:
        for house in houses:
            await register(house.db)
            await sweep(house.db)  # plans are made
        for number in range(extent.rounds):
            for house in houses if number % 2 else reversed(houses):
                rounds.note(house.name, number, await claimed(server, house))
        pages = await pages_ms(houses, server.folder, extent.rounds * extent.pages)
        for house in houses:
            for number in range(extent.rounds):
                mine = pages[house.name][number * extent.pages : (number + 1) * extent.pages]
                rounds.note(house.name, number, {"page_ms": median(mine)})
    finally:
        for house in houses:
            await house.db.close()
    return rounds


def memory(server: Server, url: str, for_s: float) -> Sequence[Point]:
    """Have one consumer work off the backlog, 200 jobs a second, and look at its memory."""
    with _working(server, url) as look:
        begun, points = time.monotonic(), []
        while (at_s := time.monotonic() - begun) < for_s:
            points.append(Point(at_s, look()))
            time.sleep(1)
    return points


@contextmanager
def _working(server: Server, url: str) -> Iterator[Any]:
    with started("soak", server.folder) as side:
        side.ask("prepare", url=url)
        side.ask("work", **WORK)
        yield lambda: side.resident_mb
        side.ask("rest")
