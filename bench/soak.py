"""Hours in short: jobs come at a steady rate, some fail at first, some are cancelled as they run.

Two consumers and whoever feeds them are processes of their own, on a PostgreSQL with production's
settings. What may not rise is looked at all the while.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.machine import machine
from bench.queue_server import Server, running_server
from bench.queue_sides import Side, started
from bench.report import Length, Report, table
from bench.series import Point, each_minute, last_half, rate_per_s, rises, slope_per_s

DATABASE = "ours_soak"
PLACES = {"noop": 10}
TAKES_S = 0.02
WORKERS = 2
DRAINED_WITHIN_S = 60.0
TOLD_EVERY_S = 60.0
LOOKED_AT = """
SELECT pg_total_relation_size('jobs') / 1e6 AS jobs_mb,
    pg_total_relation_size('jobs_done') / 1e6 AS jobs_done_mb,
    (SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'jobs') AS dead_rows,
    (SELECT count(*) FROM jobs) AS unfinished,
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections
"""
LEAST = {  # what does not count as rising: a page here, an arena there
    "jobs_mb": 0.5,
    "dead_rows": 2_000.0,
    "memory_mb": 1.0,
    "connections": 0.5,
    "unfinished": 50.0,
}
ENDED = """
SELECT (SELECT count(*) FROM jobs) AS unfinished, count(*) AS ended,
    count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    (SELECT count(*) FROM job_attempts WHERE outcome = 'retried') AS retried
FROM jobs_done
"""


@dataclass(frozen=True, slots=True)
class Course:
    """How long, how much, how often it is looked at."""

    lasts_s: float
    jobs_per_s: float
    edge_s: float  # of the first and the last rate
    every_s: float


COURSES = {
    Length.QUICK: Course(lasts_s=240, jobs_per_s=200, edge_s=60, every_s=2),
    Length.FULL: Course(lasts_s=1_800, jobs_per_s=200, edge_s=300, every_s=5),
}


@dataclass(slots=True)
class Seen:
    """All looks so far, by what was looked at."""

    series: dict[str, list[Point]] = field(default_factory=dict)

    def note(self, at_s: float, values: Mapping[str, float]) -> None:
        """Add one look."""
        for name, value in values.items():
            self.series.setdefault(name, []).append(Point(at_s, float(value)))


def run(length: Length) -> Report:
    """Soak, say each minute how it stands, and return the verdict."""
    course, facts = COURSES[length], machine()
    print(f"soak: {course.lasts_s / 60:g} minutes at {course.jobs_per_s:g} jobs/s", flush=True)
    with running_server() as server:
        seen, ended = soak(server, course)
    report = report_of(seen, ended, course, {**facts, "load_at_end": machine()["load"]})
    show(report)
    return report


def soak(server: Server, course: Course) -> tuple[Seen, Mapping[str, Any]]:
    """Feed and look until the time is over, then drain; return what was seen and what ended."""
    url = server.database(DATABASE)
    with _workers(server, url) as workers, started("soak", server.folder) as feeder:
        feeder.ask("prepare", url=url)
        feeder.ask("feed", jobs_per_s=course.jobs_per_s)
        seen = _watch(server, workers, course)
        fed = feeder.ask("stop_feeding")["fed"]
        _drained(server)
        for each in workers:
            each.ask("rest")
        return seen, {**server.row_of(DATABASE, ENDED), "fed": fed}


def report_of(
    seen: Seen, ended: Mapping[str, Any], course: Course, facts: Mapping[str, Any]
) -> Report:
    """Return what the last line says."""
    totals = seen.series["settled"]
    first = rate_per_s(totals, totals[0].at_s, totals[0].at_s + course.edge_s)
    last = rate_per_s(totals, totals[-1].at_s - course.edge_s, totals[-1].at_s)
    bands = {name: _band(seen.series[name], least) for name, least in LEAST.items()}
    return Report(
        bench="soak",
        ratios={"rate_last_vs_first": last / first},
        figures={
            "rate_first_per_s": first,
            "rate_last_per_s": last,
            "minutes": course.lasts_s / 60,
            "bands": bands,
            "each_minute": {name: each_minute(seen.series[name]) for name in LEAST},
            "rising": [name for name, band in bands.items() if band["rises"]],
            "jobs_done_mb": seen.series["jobs_done_mb"][-1].value,
            "ended": dict(ended),
            "lost": ended["fed"] - ended["ended"],
            "machine": dict(facts),
        },
    )


def _band(points: Sequence[Point], least: float) -> dict[str, Any]:
    half = last_half(points)
    values = [each.value for each in half]
    return {
        "least": min(values),
        "most": max(values),
        "per_10_min": 600 * slope_per_s(half),
        "rises": rises(points, least),
    }


def show(report: Report) -> None:
    """Print the rates and the bands of the last half."""
    figures = report.figures
    rows = [_row(name, band) for name, band in figures["bands"].items()]
    print("\nthe last half of the time")
    print(table(["", "least", "most", "per 10 min", ""], rows))
    print(
        f"rate, first {figures['rate_first_per_s']:.1f}/s, last {figures['rate_last_per_s']:.1f}/s;"
        f" lost {figures['lost']}\n"
    )


def _row(name: str, band: Mapping[str, Any]) -> Sequence[str]:
    verdict = "RISES" if band["rises"] else "level"
    numbers = [f"{band['least']:.1f}", f"{band['most']:.1f}", f"{band['per_10_min']:+.2f}"]
    return [name, *numbers, verdict]


@contextmanager
def _workers(server: Server, url: str) -> Iterator[Sequence[Side]]:
    with ExitStack() as stack:
        workers = [stack.enter_context(started("soak", server.folder)) for _ in range(WORKERS)]
        for number, each in enumerate(workers):
            each.ask("prepare", url=url)
            each.ask("work", name=f"soak-{number}", places=PLACES, takes_s=TAKES_S)
        yield workers


def _watch(server: Server, workers: Sequence[Side], course: Course) -> Seen:
    seen, begun, told_s = Seen(), time.monotonic(), 0.0
    while (at_s := time.monotonic() - begun) < course.lasts_s:
        seen.note(at_s, _look(server, workers))
        if at_s - told_s >= TOLD_EVERY_S:
            told_s = at_s
            print(progress(seen), flush=True)
        time.sleep(course.every_s)
    return seen


def _look(server: Server, workers: Sequence[Side]) -> Mapping[str, float]:
    row = server.row_of(DATABASE, LOOKED_AT)
    return {
        **row,
        "settled": sum(each.ask("settled")["settled"] for each in workers),
        "memory_mb": sum(each.resident_mb for each in workers),
    }


def progress(seen: Seen) -> str:
    """Say how it stands, in a line."""
    totals = seen.series["settled"]
    now = {name: points[-1].value for name, points in seen.series.items()}
    rate = rate_per_s(totals, totals[-1].at_s - TOLD_EVERY_S, totals[-1].at_s)
    return (
        f"{totals[-1].at_s / 60:4.0f} min  {rate:5.0f} settled/s  {now['unfinished']:5.0f}"
        f" unfinished  jobs {now['jobs_mb']:6.2f} MB  {now['dead_rows']:6.0f} dead rows"
        f"  {now['memory_mb']:6.1f} MB memory  {now['connections']:3.0f} connections"
    )


def _drained(server: Server) -> None:
    deadline = time.monotonic() + DRAINED_WITHIN_S
    while server.row_of(DATABASE, ENDED)["unfinished"] and time.monotonic() < deadline:
        time.sleep(0.2)
