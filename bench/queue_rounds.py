"""What is measured of each queue, one function a measure; a round has each queue once."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.queue_ratios import Readings, Rounds, wakes_ms
from bench.queue_server import Server
from bench.queue_sides import OURS, PGQUEUER, PROCRASTINATE, Pair
from bench.report import Length

FLUSH_MS = 2.0  # what a disk across a network takes
WAKE_EVERY_S = 0.12  # past any debounce
WAKE_SETTLE_S = 1.0  # until a started worker has nothing left to do but wait


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much is measured."""

    rounds: int
    rounds_within_s: float  # no round is begun later; the first is always taken
    jobs: int
    slow_jobs: Mapping[str, int]  # of a queue that would take minutes over all of them
    enqueues: int
    wakes: int
    claims: int
    many_jobs: int  # drained once by each
    idle_s: float
    finished: int  # rows of the full table
    queued: int

    def jobs_of(self, name: str) -> int:
        """Return how many jobs that queue drains."""
        return self.slow_jobs.get(name, self.jobs)


AMOUNTS = {
    Length.QUICK: Amounts(
        rounds=3,
        rounds_within_s=90,
        jobs=2_000,
        slow_jobs={PROCRASTINATE: 500},
        enqueues=300,
        wakes=15,
        claims=100,
        many_jobs=0,
        idle_s=60,
        finished=1_000_000,
        queued=100_000,
    ),
    Length.FULL: Amounts(
        rounds=5,
        rounds_within_s=3_600,
        jobs=2_000,
        slow_jobs={},
        enqueues=1_000,
        wakes=50,
        claims=300,
        many_jobs=20_000,
        idle_s=180,
        finished=1_000_000,
        queued=100_000,
    ),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """One queue's turn at a measure."""

    server: Server
    pair: Pair
    amounts: Amounts


Measure = Callable[[Turn], Readings]


def warm_up(pair: Pair) -> None:
    """Have both processes do everything once, uncounted."""
    for side in (pair.worker, pair.sender):
        side.ask("enqueue", jobs=200)
        side.ask("drain", jobs=200, concurrency=10)
    pair.worker.ask("clear")


def drain_10(turn: Turn) -> Readings:
    """Enqueue in one batch and drain, ten at a time; with what the database had to do for it."""
    jobs = turn.amounts.jobs_of(turn.pair.name)
    turn.pair.worker.ask("clear")
    before = turn.server.counters(turn.pair.database)
    enqueue_s = turn.pair.worker.ask("enqueue", jobs=jobs)["seconds"]
    drain_s = turn.pair.worker.ask("drain", jobs=jobs, concurrency=10)["seconds"]
    spent = turn.server.counters(turn.pair.database).since(before)
    return {
        "drain10_per_s": jobs / drain_s,
        "enqueue_batch_per_s": jobs / enqueue_s,
        "tx_per_job": spent.transactions / jobs,
        "wal_bytes_per_job": spent.wal_bytes / jobs,
    }


def drain_50(turn: Turn) -> Readings:
    """Drain fifty at a time."""
    return {"drain50_per_s": drained_per_s(turn.pair, turn.amounts.jobs_of(turn.pair.name), 50)}


def drain_many(turn: Turn) -> Readings:
    """Drain ten times as many, ten and fifty at a time."""
    if not turn.amounts.many_jobs:
        return {}
    jobs = min(turn.amounts.many_jobs, 10 * turn.amounts.jobs_of(turn.pair.name))
    return {
        f"drain{slots}_of_{turn.amounts.many_jobs}_per_s": drained_per_s(turn.pair, jobs, slots)
        for slots in (10, 50)
    }


def other_ways(turn: Turn) -> Readings:
    """Drain PgQueuer in its other two ways of being told a concurrency."""
    if turn.pair.name != PGQUEUER:
        return {}
    return {
        f"drain{slots}_{way}_per_s": drained_per_s(turn.pair, turn.amounts.jobs, slots, way=way)
        for way in ("limit", "unlimited")
        for slots in (10, 50)
    }


def in_a_transaction(turn: Turn) -> Readings:
    """Enqueue ours one by one from the pool, as part of a greater transaction has to be."""
    if turn.pair.name != OURS:
        return {}
    turn.pair.worker.ask("clear")
    asked = turn.pair.sender.ask("enqueue_one_by_one", jobs=turn.amounts.enqueues, way="pool")
    return {"enqueue1_in_transaction_per_s": turn.amounts.enqueues / asked["seconds"]}


def enqueue_1(turn: Turn) -> Readings:
    """Enqueue one by one, from one client."""
    turn.pair.worker.ask("clear")
    asked = turn.pair.sender.ask("enqueue_one_by_one", jobs=turn.amounts.enqueues)
    return {"enqueue1_per_s": turn.amounts.enqueues / asked["seconds"]}


def wake(turn: Turn) -> Readings:
    """Send to an idle worker of another process, one at a time."""
    turn.pair.worker.ask("clear")
    turn.pair.worker.ask("work", concurrency=10)
    time.sleep(WAKE_SETTLE_S)
    sent = turn.pair.sender.ask("send", times=turn.amounts.wakes, every_s=WAKE_EVERY_S)
    return wakes_ms(sent["moments"], turn.pair.worker.ask("rest")["started"])


def claim(turn: Turn) -> Readings:
    """Claim one and ten at a time off a young table: the server's own time for a statement."""
    return claim_readings(turn.server, turn.pair, turn.amounts.claims, _freshly_queued)


def slow_drains(turn: Turn) -> Readings:
    """Repeat what waits for the disk, with a flush that takes as long as in a cloud."""
    turn.server.slow_flushes(FLUSH_MS)
    few = replace(turn, amounts=replace(turn.amounts, slow_jobs={PROCRASTINATE: 200}, enqueues=200))
    try:
        read = {**drain_10(few), **drain_50(few)}
        read |= {**enqueue_1(few), **wake(few)}
    finally:
        turn.server.slow_flushes(0)
    kept = ("drain10_per_s", "drain50_per_s", "enqueue1_per_s", "wake_p50_ms", "wal_bytes_per_job")
    return {f"slow_flush_{name}": read[name] for name in kept}


ROUND: Sequence[Measure] = (drain_10, drain_50, enqueue_1, wake, claim, slow_drains)
ONCE: Sequence[Measure] = (other_ways, in_a_transaction, drain_many)


def measure_round(
    server: Server, pairs: Sequence[Pair], amounts: Amounts, number: int, rounds: Rounds
) -> None:
    """Take each measure of each queue; who begins is another one every round."""
    turn = number % len(pairs)
    for measure in (*ROUND, *(ONCE if number == 0 else ())):
        for pair in (*pairs[turn:], *pairs[:turn]):
            rounds.note(pair.name, number, measure(Turn(server, pair, amounts)))


def drained_per_s(pair: Pair, jobs: int, slots: int, **more: str) -> float:
    """Return the jobs a second of one drain."""
    pair.worker.ask("clear")
    pair.worker.ask("enqueue", jobs=jobs)
    asked = pair.worker.ask("drain", jobs=jobs, concurrency=slots, **more)
    return jobs / float(asked["seconds"])


def claim_readings(
    server: Server, pair: Pair, claims: int, make_ready: Callable[[Pair, int], None]
) -> Readings:
    """Return what a claim of one and of ten takes the server, and the sum, which is compared."""
    times = {}
    for size in (1, 10):
        make_ready(pair, claims * size)
        server.forget_statements()
        pair.worker.ask("claim", times=claims, size=size)  # what was claimed is settled
        times[size] = server.claims_of(pair.database, claims)
    return {
        "claim_1_ms": times[1].total_ms,
        "claim_10_ms": times[10].total_ms,
        "claim_plan_ms": times[10].plan_ms,
        "claim_ms": times[1].total_ms + times[10].total_ms,
    }


def _freshly_queued(pair: Pair, jobs: int) -> None:
    pair.worker.ask("clear")
    pair.worker.ask("enqueue", jobs=jobs)


def as_it_is(_pair: Pair, _jobs: int) -> None:
    """Leave the table as it is."""
