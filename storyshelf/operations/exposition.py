"""Figures as Prometheus reads them: families of one scrape, and nothing kept between two.

Lanes, classes, kinds and outcomes are labels; a project never is. Whoever may read the figures
need not know what is reviewed here, and a label a project would be a series a project.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from storyshelf.operations.histogram import BOUNDS_MS, empty, merge
from storyshelf.queue.job import Outcome

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
PREFIX = "storyshelf_"
LE_S = (*(str(bound_ms / 1000) for bound_ms in BOUNDS_MS), "+Inf")

Labelled = Mapping[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class Took:
    """How long attempts of one kind and outcome waited and ran, and how many there were."""

    kind: str
    outcome: Outcome
    count: int
    wait_ms: int
    run_ms: int
    waits: Sequence[int]
    runs: Sequence[int]


class _Scrape:
    """The families of one scrape, as a registry asks for them."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterable[Metric]:
        """Hand them out."""
        return self._families


def exposition(families: Iterable[Metric]) -> bytes:
    """Return the families as text, from a registry that lives for this scrape alone."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Scrape(families))
    return generate_latest(registry)


def gauge(name: str, about: str, value: float) -> Metric:
    """Return a family of one number that rises and falls."""
    return GaugeMetricFamily(PREFIX + name, about, value=value)


def gauges(name: str, about: str, labels: Sequence[str], values: Labelled) -> Metric:
    """Return a family of numbers that rise and fall, by their labels' values."""
    family = GaugeMetricFamily(PREFIX + name, about, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


def counter(name: str, about: str, value: float) -> Metric:
    """Return a family of one number that only rises; its name ends in `_total`."""
    return CounterMetricFamily(PREFIX + name, about, value=value)


def counters(name: str, about: str, labels: Sequence[str], values: Labelled) -> Metric:
    """Return a family of numbers that only rise."""
    family = CounterMetricFamily(PREFIX + name, about, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


def attempts(name: str, whose: str, took: Sequence[Took]) -> Iterator[Metric]:
    """Yield how many attempts ended how, how long they ran, and how long first ones waited."""
    yield counters(
        f"{name}s",
        f"Ended attempts {whose}",
        ["kind", "outcome"],
        {(each.kind, each.outcome.value): each.count for each in took},
    )
    ran = HistogramMetricFamily(
        f"{PREFIX}{name}_run_seconds", f"How long attempts ran {whose}", labels=["kind", "outcome"]
    )
    for each in took:
        ran.add_metric([each.kind, each.outcome.value], _buckets(each.runs), each.run_ms / 1000)
    yield ran
    yield _waits(name, whose, took)


def _waits(name: str, whose: str, took: Sequence[Took]) -> Metric:
    counts: defaultdict[str, list[int]] = defaultdict(empty)
    sums_ms: defaultdict[str, int] = defaultdict(int)
    for each in took:
        counts[each.kind] = merge(counts[each.kind], each.waits)
        sums_ms[each.kind] += each.wait_ms
    waited = HistogramMetricFamily(
        f"{PREFIX}{name}_wait_seconds", f"How long first attempts waited {whose}", labels=["kind"]
    )
    for kind, of_kind in counts.items():
        waited.add_metric([kind], _buckets(of_kind), sums_ms[kind] / 1000)
    return waited


def _buckets(counts: Sequence[int]) -> list[tuple[str, float]]:
    return list(zip(LE_S, map(float, accumulate(counts)), strict=True))
