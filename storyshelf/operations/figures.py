"""How the kinds of jobs fare: how many ended how, how long they waited and ran."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce

from storyshelf.db.engine import Tx
from storyshelf.operations import metric_store
from storyshelf.operations.histogram import empty, merge, quantile
from storyshelf.operations.metric_store import Ended, MetricRow, Width
from storyshelf.queue.job import Outcome

# Up to here by minutes, beyond by hours, which are minutes behind: some 2,000 rows either way.
BY_MINUTE_UP_TO = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Spread:
    """Half of all, and nineteen in twenty, took no longer; right within a histogram's bucket."""

    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class KindFigures:
    """How one kind of job fared; the wait is that of first attempts."""

    kind: str
    outcomes: Mapping[Outcome, int]
    per_minute: float
    wait: Spread | None  # None: nothing of which it is known
    run: Spread | None


async def figures(tx: Tx, last: timedelta) -> tuple[KindFigures, ...]:
    """Return the figures of each kind of which an attempt ended in that time, in order of name."""
    width = Width.MINUTE if last <= BY_MINUTE_UP_TO else Width.HOUR
    by_kind: dict[str, list[MetricRow]] = defaultdict(list)
    for row in await metric_store.totals_of_last(tx, width, last):
        by_kind[row.kind].append(row)
    return tuple(_of_kind(kind, rows, last) for kind, rows in sorted(by_kind.items()))


async def throughput(tx: Tx, minutes: int = 60) -> tuple[Ended, ...]:
    """Return how many attempts ended in each of the last whole minutes, the oldest first."""
    return await metric_store.ended(tx, minutes)


def _of_kind(kind: str, rows: Sequence[MetricRow], last: timedelta) -> KindFigures:
    return KindFigures(
        kind=kind,
        outcomes={row.outcome: row.count for row in rows},
        per_minute=sum(row.count for row in rows) / max(last / timedelta(minutes=1), 1.0),
        wait=_spread([row.waits for row in rows]),
        run=_spread([row.runs for row in rows]),
    )


def _spread(histograms: Sequence[Sequence[int]]) -> Spread | None:
    counts = reduce(merge, histograms, empty())
    half, most = quantile(counts, 0.5), quantile(counts, 0.95)
    return None if half is None or most is None else Spread(half, most)
