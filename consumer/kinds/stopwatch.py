"""Adds up how long the named steps of one piece of work take."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from storyshelf.clock import Clock


class Stopwatch:
    """Belongs to one piece of work; a step that is taken twice counts twice."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken_s: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what happens inside, however it ends."""
        began = self._clock.monotonic()
        try:
            yield
        finally:
            self.add(name, self._clock.monotonic() - began)

    def add(self, name: str, seconds: float) -> None:
        """Count what was measured elsewhere."""
        self._taken_s[name] = self._taken_s.get(name, 0.0) + seconds

    @property
    def taken_ms(self) -> Mapping[str, float]:
        """Return the steps taken so far, in the order of their first time."""
        return {name: round(seconds * 1_000, 1) for name, seconds in self._taken_s.items()}
