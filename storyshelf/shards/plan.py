"""Cut a build's captures into shards of about equal duration."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from math import ceil
from statistics import median

from storyshelf.ids import SnapshotKey

SHARD_TARGET_MS = 60_000  # long enough to pay for a page load, short enough to lose to a crash
MIN_SHARD_MS = 5_000  # below this a shard is mostly the child's start and the bundle's first load
MAX_SHARDS = 2_000  # rows that one build may add to the queue
DEFAULT_COST_MS = 1_200  # of a story never captured, in a build where no other has a past


@dataclass(frozen=True, slots=True)
class PlannedCapture:
    """A snapshot to render and what it took last time; None = never captured."""

    key: SnapshotKey
    cost_ms: int | None = None

    @property
    def component(self) -> str:
        """The stories of one file share this part of their ids, and the chunks they load."""
        return self.key.story_id.partition("--")[0]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Captures that stay together, in the order of their keys."""

    cost_ms: int
    captures: tuple[PlannedCapture, ...]


def cut(
    items: Sequence[PlannedCapture],
    target_ms: int = SHARD_TARGET_MS,
    *,
    slots: int = 1,
    max_shards: int = MAX_SHARDS,
) -> tuple[tuple[PlannedCapture, ...], ...]:
    """Return the shards, the most expensive first, each in the order of its keys.

    Every item is in exactly one shard, and the answer does not depend on the order of the items.
    A shard lasts about `target_ms`, or less where the build would otherwise not fill the `slots`
    that can work on it; a component is divided only when it alone is more than one shard.
    """
    costed = _with_costs(items)
    if not costed:
        return ()
    total_ms = sum(cost_ms for _, cost_ms in costed)
    count = _shard_count(total_ms, target_ms, slots=slots, at_most=min(max_shards, len(costed)))
    pieces = _pieces(costed, ceil(total_ms / count))
    return _packed(pieces, count)


def _with_costs(items: Sequence[PlannedCapture]) -> list[tuple[PlannedCapture, int]]:
    known = [item.cost_ms for item in items if item.cost_ms is not None]
    unknown_ms = round(median(known)) if known else DEFAULT_COST_MS
    ordered = sorted(items, key=lambda item: (item.component, item.key, item.cost_ms or 0))
    return [
        (item, max(1, unknown_ms if item.cost_ms is None else item.cost_ms)) for item in ordered
    ]


def _shard_count(total_ms: int, target_ms: int, *, slots: int, at_most: int) -> int:
    by_target = ceil(total_ms / target_ms)
    worth_spreading = total_ms // MIN_SHARD_MS
    return max(1, min(at_most, max(by_target, min(slots, worth_spreading))))


def _pieces(costed: Iterable[tuple[PlannedCapture, int]], shard_ms: int) -> list[_Piece]:
    components: defaultdict[str, list[tuple[PlannedCapture, int]]] = defaultdict(list)
    for capture, cost_ms in costed:
        components[capture.component].append((capture, cost_ms))
    return [piece for group in components.values() for piece in _divided(group, shard_ms)]


def _divided(group: Sequence[tuple[PlannedCapture, int]], shard_ms: int) -> list[_Piece]:
    """Divide one component into as few runs of neighbours as fit a shard, of about equal cost."""
    total_ms = sum(cost_ms for _, cost_ms in group)
    runs: defaultdict[int, list[tuple[PlannedCapture, int]]] = defaultdict(list)
    count, before_ms = ceil(total_ms / shard_ms), 0
    for capture, cost_ms in group:
        middle_ms = before_ms + cost_ms / 2
        runs[int(middle_ms * count / total_ms)].append((capture, cost_ms))
        before_ms += cost_ms
    return [
        _Piece(sum(cost_ms for _, cost_ms in run), tuple(capture for capture, _ in run))
        for run in runs.values()
    ]


def _packed(pieces: list[_Piece], count: int) -> tuple[tuple[PlannedCapture, ...], ...]:
    """Give each piece, the longest first, to the shard that has least so far."""
    loads = [(0, number) for number in range(count)]
    heapify(loads)
    shards: list[list[PlannedCapture]] = [[] for _ in range(count)]
    costs = [0] * count
    for piece in sorted(pieces, key=lambda piece: (-piece.cost_ms, piece.captures[0].key)):
        load_ms, number = loads[0]
        shards[number].extend(piece.captures)
        costs[number] = load_ms + piece.cost_ms
        heapreplace(loads, (costs[number], number))
    order = sorted((number for number in range(count) if shards[number]), key=lambda n: -costs[n])
    return tuple(_in_key_order(shards[number]) for number in order)


def _in_key_order(captures: list[PlannedCapture]) -> tuple[PlannedCapture, ...]:
    return tuple(sorted(captures, key=lambda item: (item.component, item.key, item.cost_ms or 0)))
