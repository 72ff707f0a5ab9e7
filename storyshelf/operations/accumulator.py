"""What a process has counted of ended attempts and not yet handed on to the database.

Minutes are of the process's monotonic clock, and become the database's when they are flushed: a
machine whose clock is wrong by an hour still counts into the right minute.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from storyshelf.operations.histogram import bucket_of, empty, merge
from storyshelf.queue.job import AttemptEnded, Outcome

MINUTES_KEPT = 60  # of an outage; what is older says little, and memory must not grow with it
MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Key:
    """Attempts that are counted together."""

    minute: int  # of the monotonic clock
    kind: str
    outcome: Outcome


@dataclass(slots=True)
class Sums:
    """Attempts of one key, added up.

    How long a job waited is counted with its first attempt alone. That is the wait somebody saw;
    before a later attempt lies the run that was lost with its consumer, or a delay on purpose.
    """

    count: int = 0
    attempts: int = 0  # the sum of their numbers: over the count, how many tries a job took
    wait_ms: int = 0
    run_ms: int = 0
    waits: list[int] = field(default_factory=empty)
    runs: list[int] = field(default_factory=empty)
    latest_at: float = 0.0  # when the last of them ended, by the monotonic clock

    def add(self, ended: AttemptEnded, at: float) -> None:
        """Count one more."""
        self.count += 1
        self.attempts += ended.attempt
        self.run_ms += ended.ran_ms
        self.runs[bucket_of(ended.ran_ms)] += 1
        if ended.attempt == 1:
            self.wait_ms += ended.waited_ms
            self.waits[bucket_of(ended.waited_ms)] += 1
        self.latest_at = max(self.latest_at, at)

    def merge(self, other: "Sums") -> None:
        """Count all of the other's too."""
        self.count += other.count
        self.attempts += other.attempts
        self.wait_ms += other.wait_ms
        self.run_ms += other.run_ms
        self.waits = merge(self.waits, other.waits)
        self.runs = merge(self.runs, other.runs)
        self.latest_at = max(self.latest_at, other.latest_at)


Batch = Mapping[Key, Sums]


class Accumulator:
    """Counts in memory; one loop calls it, so it needs no lock.

    Attempts of the running minute are counted apart, and put with the rest when somebody asks: to
    count one costs a look-up and an addition.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._minute = 0
        self._fresh: defaultdict[tuple[str, Outcome], Sums] = defaultdict(Sums)  # of this minute
        self._pending: defaultdict[Key, Sums] = defaultdict(Sums)
        self._totals: defaultdict[tuple[str, Outcome], Sums] = defaultdict(Sums)
        self.dropped = 0  # attempts that were too old when the database came back

    @property
    def totals(self) -> Mapping[tuple[str, Outcome], Sums]:
        """Return what was counted since the process began, by kind and outcome."""
        self._fold()
        return self._totals

    @property
    def pending_minutes(self) -> int:
        """Return how many minutes wait to be flushed."""
        self._fold()
        return len({key.minute for key in self._pending})

    def observe(self, ended: AttemptEnded) -> None:
        """Count an attempt that has ended now."""
        now = self._monotonic()
        self._keep_newest(now)
        self._fresh[ended.kind, ended.outcome].add(ended, now)

    def drain(self) -> Batch:
        """Hand out what waits, without what is too old by now; counting begins anew."""
        self._keep_newest(self._monotonic())
        self._fold()
        batch, self._pending = self._pending, defaultdict(Sums)
        return dict(batch)

    def merge_back(self, batch: Batch) -> None:
        """Take back what could not be flushed, as far as it is not too old by now."""
        worth = self.still_worth(batch)
        self.give_up(batch, but=worth)
        for key, sums in worth.items():
            self._pending[key].merge(sums)

    def still_worth(self, batch: Batch) -> Batch:
        """Return what of it is not too old by now."""
        self._keep_newest(self._monotonic())
        return {key: sums for key, sums in batch.items() if not self._is_old(key)}

    def give_up(self, batch: Batch, *, but: Batch) -> None:
        """Count as dropped what of a batch was flushed by nobody."""
        self.dropped += sum(sums.count for key, sums in batch.items() if key not in but)

    def _fold(self) -> None:
        for (kind, outcome), sums in self._fresh.items():
            self._pending[Key(self._minute, kind, outcome)].merge(sums)
            self._totals[kind, outcome].merge(sums)
        self._fresh.clear()

    def _keep_newest(self, now: float) -> None:
        minute = int(now // MINUTE_S)
        if minute == self._minute:
            return  # looked through once a minute, not once an attempt
        self._fold()
        self._minute = minute
        for key in [key for key in self._pending if self._is_old(key)]:
            self.dropped += self._pending.pop(key).count

    def _is_old(self, key: Key) -> bool:
        return key.minute <= self._minute - MINUTES_KEPT
