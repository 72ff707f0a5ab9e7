"""Our queue beside Procrastinate and PgQueuer: drains, wake-ups, claims, and what they cost.

All three on one PostgreSQL with production's settings, each on a database of its own, as processes
that are driven alike, taking turns within every round.
"""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.machine import machine
from bench.queue_full import full_database
from bench.queue_idle import idle
from bench.queue_ratios import RATIOS, Rounds, ratios_of
from bench.queue_rounds import (
    AMOUNTS,
    FLUSH_MS,
    Amounts,
    as_it_is,
    claim_readings,
    measure_round,
    warm_up,
)
from bench.queue_server import Server, flushes_per_s, running_server
from bench.queue_sides import OURS, PGQUEUER, PROCRASTINATE, Pair, pair
from bench.queue_table import show
from bench.report import Length, Report

NAMES = (OURS, PGQUEUER, PROCRASTINATE)
FULL = "ours_full"


def run(length: Length) -> Report:
    """Measure, print the tables, and return the ratios with the medians of all rounds."""
    amounts, facts = AMOUNTS[length], machine()
    print("queue on " + ", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    with running_server() as server, _pairs(server) as pairs:
        facts |= _disk(server)
        print(f"this disk: {facts['flushes_per_s']:.0f} durable one-row commits/s of one client")
        rounds = _measured(server, pairs, amounts)
        facts["postgres"] = server.row("SHOW server_version")[0]
    facts |= {each.name: each.version for each in pairs}
    facts |= {"load_at_end": machine()["load"], "rounds": len(rounds.of_side[OURS])}
    report = report_of(rounds, facts)
    show(rounds, report.ratios, amounts, facts)
    return report


def report_of(rounds: Rounds, facts: Mapping[str, Any]) -> Report:
    """Return what the last line says."""
    medians = {name: rounds.medians(name) for name in (*NAMES, FULL)}
    return Report(
        bench="queue",
        ratios=ratios_of(rounds),
        figures={**medians, **_slow_ratios(rounds), "machine": facts},
    )


def _slow_ratios(rounds: Rounds) -> dict[str, float | None]:
    """Return the ratios whose measures were taken again with slow flushes."""
    return {
        f"slow_flush_{each.key}": rounds.ratio(f"slow_flush_{each.measure}", each.ours, each.theirs)
        for each in RATIOS
        if rounds.values(OURS, f"slow_flush_{each.measure}")
    }


@contextmanager
def _pairs(server: Server) -> Iterator[Sequence[Pair]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(pair(name, server.database(name), server.folder)) for name in NAMES
        ]


def _disk(server: Server) -> dict[str, float]:
    url = server.database("disk")
    quick = flushes_per_s(url)
    server.slow_flushes(FLUSH_MS)
    slow = flushes_per_s(url)
    server.slow_flushes(0)
    return {"flushes_per_s": quick, "slow_flushes_per_s": slow}


def _measured(server: Server, pairs: Sequence[Pair], amounts: Amounts) -> Rounds:
    rounds = Rounds()
    for each in pairs:
        warm_up(each)
    full_url = full_database(server, amounts.finished, amounts.queued)
    with pair(OURS, full_url, server.folder) as full:
        begun = time.monotonic()
        for number in range(amounts.rounds):
            measure_round(server, pairs, amounts, number, rounds)
            rounds.note(FULL, number, claim_readings(server, full, amounts.claims, as_it_is))
            said = {key: round(value, 2) for key, value in ratios_of(rounds).items()}
            took_s = time.monotonic() - begun
            print(f"round {number + 1}, {took_s:.0f} s: {said}", file=sys.stderr, flush=True)
            if took_s > amounts.rounds_within_s:
                break
    for name, readings in idle(server, pairs, amounts.idle_s).items():
        rounds.note(name, 0, readings)
    return rounds
