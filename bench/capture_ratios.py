"""From what the sides took to the ratios of the capture bench, and a story's parts; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.queue_ratios import Ratio, Rounds

# By whose work a step is; all of them are a slot's time, one after the other.
STEPS = ("child", "open", "render", "settle", "shoot", "between", "hash", "store")
SHOTS = 2  # of a story that holds still: two equal ones are believed

RATIOS = (
    Ratio("strict_wall_vs_storycap", "stories_per_s", "storycap", ours="strict", at_least=2),
    Ratio("strict_cpu_vs_storycap", "stories_per_cpu_s", "storycap", ours="strict", at_least=1.6),
    Ratio("shared_wall_vs_storycap", "stories_per_s", "storycap", ours="shared", at_least=3.5),
    Ratio("strict_wall_vs_test_runner", "stories_per_s", "test_runner", ours="strict", at_least=4),
    Ratio("strict_of_raw", "stories_per_s", "raw", ours="strict", at_least=0.16),
    Ratio("shared_of_raw", "stories_per_s", "raw", ours="shared", at_least=0.24),
    Ratio("memory_vs_storycap", "peak_mb", "storycap", ours="strict", at_most=0.5),
    Ratio("unchanged_vs_first", "stories_per_s", "first", ours="unchanged", at_least=1.3),
)


def ratios_of(rounds: Rounds) -> dict[str, float]:
    """Return every ratio that the rounds have the readings for; a mode that is not there has none.

    Each is the median of the ratios of neighbouring runs.
    """
    found = {each.key: rounds.ratio(each.measure, each.ours, each.theirs) for each in RATIOS}
    return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Parts:
    """Milliseconds of a story by step; `rest` is slots' time in which no step was under way."""

    of_step: Mapping[str, float]
    encode: float  # inside `shoot`: worked out from raw shots, not measured in place
    rest: float
    slot_ms: float  # the slots' wall time by stories: what all of it adds up to

    @property
    def per_story(self) -> dict[str, float]:
        """Return the parts by name, `shoot` without what the encoding takes of it."""
        drawn = max(0.0, self.of_step.get("shoot", 0.0) - self.encode)
        return {**self.of_step, "shoot": drawn, "encode": self.encode, "rest": self.rest}

    @property
    def unexplained(self) -> float:
        """Return the share of the slots' time that no step accounts for."""
        return abs(self.rest) / self.slot_ms


def parts_of(
    ms: Mapping[str, float], stories: int, wall_s: float, slots: int, encode_ms: float
) -> Parts:
    """Split the slots' time of one run: `ms` has the sums over all stories and children."""
    names = [*STEPS, *(name for name in ms if name not in STEPS)]
    of_step = {name: ms.get(name, 0.0) / stories for name in names}
    slot_ms = 1000 * wall_s * slots / stories
    encode = min(SHOTS * encode_ms, of_step["shoot"])
    return Parts(of_step, encode, slot_ms - sum(of_step.values()), slot_ms)


def middle(values: Sequence[float]) -> int:
    """Return which of the values is the median; the lower of the two in the middle."""
    return sorted(range(len(values)), key=lambda at: values[at])[(len(values) - 1) // 2]
