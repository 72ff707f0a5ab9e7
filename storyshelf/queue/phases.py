"""Where the time of one attempt went."""

from collections.abc import Mapping

from storyshelf.clock import Clock


class Phases:
    """A stopwatch whose phases follow one another; what is told is rounded to milliseconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self._last = clock.monotonic()
        self._taken_s: dict[str, float] = {}

    def end(self, phase: str) -> None:
        """Say that everything since the last phase's end was this one."""
        now = self._clock.monotonic()
        self._taken_s[phase] = now - self._last
        self._last = now

    @property
    def taken_ms(self) -> Mapping[str, int]:
        """Return how long each took, in the order they came."""
        return {phase: round(1000 * seconds) for phase, seconds in self._taken_s.items()}

    @property
    def total_ms(self) -> int:
        """Return how long all of them took."""
        return round(1000 * (self._last - self._began))
