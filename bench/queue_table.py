"""The queue bench's tables, and what its words mean."""

from collections.abc import Mapping
from typing import Any

from bench.queue_ratios import RATIOS, Rounds
from bench.queue_rounds import FLUSH_MS, Amounts
from bench.queue_sides import OURS, PGQUEUER, PROCRASTINATE
from bench.report import table

LEGEND = """\
Each round measures all three within the same minutes, and a ratio is the median of the rounds' own
ratios; the figures are medians of all rounds. Everybody starts from processes that have done it
before, and drains from the first handler's start to the last settle that the database shows.
  ours           the consumer's claiming half with lease keeper, hints, expiry, metrics, logging;
                 jobs without effects, as the peers' are: a capture's settle costs more
  pgqueuer       on uvloop with one connection, as its command runs it; it logs no line a job
  procrastinate  a worker with its defaults, likewise without a line a job
Concurrency c is, to ours, c slots of a lane that take any job; those kept for people come on top
and stay empty. To Procrastinate it is `concurrency=c`. PgQueuer has three ways, and the ratios take
the first, which bounds what a process holds as slots do:
  hard cap   `max_concurrent_tasks=c` and the largest `batch_size` it allows with it, c/2
  limit      `concurrency_limit=c` of the entrypoint, over all processes, `batch_size=c`
  unlimited  `batch_size=c` alone: as many at once as have been fetched
enqueue: one statement in a transaction of its own, ours on a line kept for such, theirs on theirs.
wake: from the begin of the enqueue in one process to the handler's start in another, idle one.
claim: the server's time to plan and run the statement, one job and ten at a time, added up;
PgQueuer's without any limit, its cheapest. full: {finished:,} finished, {queued:,} queued of 200
projects. tx and WAL: of one batch's enqueue and its drain at c=10, start and stop included.
idle: ours is the consumer program itself, leading, with its heartbeat and its leader's duties.
Procrastinate drains {slow:,} jobs where the others drain {jobs:,}.
slow flush: the same again, each flush {flush_ms:g} ms longer, as on a disk across a network. On a
disk that answers in 0.2 ms a drain is a matter of processor time, there of flushes: whoever waits
for fewer flushes wins by far on a slow disk and by little or nothing on a quick one."""

LABELS = {
    "drain10_per_s": "drain, c=10, jobs/s",
    "drain50_per_s": "drain, c=50, jobs/s",
    "drain10_limit_per_s": "  c=10, limit",
    "drain50_limit_per_s": "  c=50, limit",
    "drain10_unlimited_per_s": "  c=10, unlimited",
    "drain50_unlimited_per_s": "  c=50, unlimited",
    "enqueue1_per_s": "enqueue one by one, jobs/s",
    "enqueue1_in_transaction_per_s": "  in a pooled transaction",
    "enqueue_batch_per_s": "enqueue in one batch, jobs/s",
    "wake_p50_ms": "wake p50, ms",
    "wake_p95_ms": "wake p95, ms",
    "wake_after_return_p50_ms": "  p50 from the enqueue's return",
    "claim_1_ms": "claim of 1, ms of the server",
    "claim_10_ms": "claim of 10, ms of the server",
    "claim_plan_ms": "  of it to plan it anew",
    "tx_per_job": "transactions a job",
    "wal_bytes_per_job": "WAL bytes a job",
    "idle_tx_per_min": "idle transactions a minute",
    "idle_claiming_half_tx_per_min": "  of the claiming half alone",
    "slow_flush_drain10_per_s": "slow flush: drain, c=10",
    "slow_flush_drain50_per_s": "slow flush: drain, c=50",
    "slow_flush_enqueue1_per_s": "slow flush: enqueue one by one",
    "slow_flush_wake_p50_ms": "slow flush: wake p50, ms",
    "slow_flush_wal_bytes_per_job": "slow flush: WAL bytes a job",
}
COLUMNS = (OURS, "ours_full", PGQUEUER, PROCRASTINATE)


def show(
    rounds: Rounds, ratios: Mapping[str, float], amounts: Amounts, facts: Mapping[str, Any]
) -> None:
    """Print figures, ratios with their bounds, and the legend."""
    print(figures_table(rounds), ratios_table(ratios), sep="\n\n")
    slow = amounts.jobs_of(PROCRASTINATE)
    words = {"finished": amounts.finished, "queued": amounts.queued, "flush_ms": FLUSH_MS}
    print("", LEGEND.format(slow=slow, jobs=amounts.jobs, **words), "", sep="\n")
    print(f"flushes/s: {facts['flushes_per_s']:.0f}, made slow {facts['slow_flushes_per_s']:.0f}")


def figures_table(rounds: Rounds) -> str:
    """Lay out the medians, a column a queue; what was not measured of one is left blank."""
    medians = {name: rounds.medians(name) for name in COLUMNS}
    measures = {measure for each in medians.values() for measure in each}
    others = sorted(measures - LABELS.keys() - {"claim_ms"})
    rows = [
        [LABELS.get(measure, measure), *(_cell(medians[name].get(measure)) for name in COLUMNS)]
        for measure in (*LABELS, *others)
        if measure in measures
    ]
    return table(["", *COLUMNS], rows)


def ratios_table(ratios: Mapping[str, float]) -> str:
    """Lay out the ratios that were found, each with its bound."""
    rows = [
        [each.key, f"{ratios[each.key]:.2f}", each.bound, each.verdict(ratios[each.key])]
        for each in RATIOS
        if each.key in ratios
    ]
    return table(["ours : theirs", "", "", ""], rows)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
