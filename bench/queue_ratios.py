"""From what the rounds read to the ratios that are looked at; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

Readings = Mapping[str, float]  # one side's, of one round, by measure


@dataclass(slots=True)
class Rounds:
    """What each side read, round by round; a measure may be missing from some rounds."""

    of_side: dict[str, list[dict[str, float]]] = field(default_factory=dict)

    def note(self, side: str, number: int, readings: Readings) -> None:
        """Add what a side read in the round of that number, the first being 0."""
        rounds = self.of_side.setdefault(side, [])
        while len(rounds) <= number:
            rounds.append({})
        rounds[number].update(readings)

    def values(self, side: str, measure: str) -> Sequence[float]:
        """Return a side's readings of the measure, in order of the rounds."""
        return [each[measure] for each in self.of_side.get(side, ()) if measure in each]

    def medians(self, side: str) -> Mapping[str, float]:
        """Return the median of each measure over all rounds that have it."""
        measures = {name for each in self.of_side.get(side, ()) for name in each}
        return {name: median(self.values(side, name)) for name in sorted(measures)}

    def ratio(self, measure: str, ours: str, theirs: str) -> float | None:
        """Return the median of the rounds' own ratios; None if no round has both.

        Each round compares what was read within the same minute, so that a load that comes and
        goes between rounds moves no ratio.
        """
        pairs = zip(self.of_side.get(ours, ()), self.of_side.get(theirs, ()), strict=False)
        both = [
            mine[measure] / other[measure]
            for mine, other in pairs
            if measure in mine and other.get(measure)
        ]
        return median(both) if both else None


@dataclass(frozen=True, slots=True)
class Ratio:
    """One key of the last line: which measure of whom by whose, and what it has to be."""

    key: str
    measure: str
    theirs: str
    ours: str = "ours"
    at_least: float | None = None
    at_most: float | None = None

    def verdict(self, found: float) -> str:
        """Say whether the ratio is where it has to be."""
        if self.at_least is not None:
            return "met" if found >= self.at_least else "MISSED"
        assert self.at_most is not None, "a ratio has a bound"
        return "met" if found <= self.at_most else "MISSED"

    @property
    def bound(self) -> str:
        """Return the bound in words."""
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return f"at most {self.at_most:g}"


RATIOS = (
    Ratio("drain10_vs_pgqueuer", "drain10_per_s", "pgqueuer", at_least=4),
    Ratio("drain50_vs_pgqueuer", "drain50_per_s", "pgqueuer", at_least=4),
    Ratio("drain10_vs_procrastinate", "drain10_per_s", "procrastinate", at_least=40),
    Ratio("enqueue1_vs_pgqueuer", "enqueue1_per_s", "pgqueuer", at_least=1.3),
    Ratio("wake_p50_vs_pgqueuer", "wake_p50_ms", "pgqueuer", at_most=0.7),
    Ratio("claim_vs_pgqueuer", "claim_ms", "pgqueuer", at_most=0.5),
    Ratio("claim_full_vs_young", "claim_ms", "ours", ours="ours_full", at_most=1.2),
    Ratio("tx_vs_pgqueuer", "tx_per_job", "pgqueuer", at_most=0.6),
    Ratio("wal_vs_pgqueuer", "wal_bytes_per_job", "pgqueuer", at_most=0.6),
    Ratio("idle_tx_vs_pgqueuer", "idle_tx_per_min", "pgqueuer", at_most=0.5),
)


def ratios_of(rounds: Rounds) -> dict[str, float]:
    """Return every ratio that the rounds have the readings for."""
    found = {each.key: rounds.ratio(each.measure, each.ours, each.theirs) for each in RATIOS}
    return {key: value for key, value in found.items() if value is not None}


def wakes_ms(moments: Sequence[Sequence[float]], started: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 from sent to started, and p50 from the enqueue's return to started.

    The n-th to be sent is the n-th to start: each was alone on its way.
    """
    assert len(moments) == len(started), f"{len(moments)} sent, {len(started)} started"
    sent = sorted(1000 * (at - each[0]) for at, each in zip(started, moments, strict=True))
    returned = [1000 * (at - each[1]) for at, each in zip(started, moments, strict=True)]
    return {
        "wake_p50_ms": median(sent),
        "wake_p95_ms": sent[min(len(sent) - 1, round(0.95 * len(sent)))],
        "wake_after_return_p50_ms": median(returned),
    }
