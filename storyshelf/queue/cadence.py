"""How long to wait before looking at the queue again when nobody has said that there is work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cadence:
    """Polling is the floor under the hints: with every hint lost, this is how late work starts."""

    idle_s: float = 15.0
    active_s: float = 2.0
    active_for_s: float = 60.0  # after work was seen
    stretch: float = 0.2  # a wait is made longer by up to this part, so that consumers spread out

    def next_wait_s(
        self, since_work_s: float | None, draw: float, next_due_s: float | None = None
    ) -> float:
        """Return the wait; `draw` is in [0, 1). Never shorter than the pace, but for a due job."""
        is_active = since_work_s is not None and since_work_s < self.active_for_s
        wait_s = (self.active_s if is_active else self.idle_s) * (1 + self.stretch * draw)
        return wait_s if next_due_s is None else min(wait_s, max(next_due_s, 0.0))
