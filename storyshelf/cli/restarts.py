"""When a process that ended by itself is started again."""

from dataclasses import dataclass, replace

FIRST_S = 0.5
LONGEST_S = 30.0
STEADY_S = 60.0  # who lived that long had not the trouble that the one before it had
UNFIT_CODE = 3  # a consumer's: something has to be mended first, and it has said what
UNFIT_FIRST_S = 60.0  # trying costs a browser's start, and the cure is a person's work
UNFIT_LONGEST_S = 600.0


@dataclass(frozen=True, slots=True)
class Restarts:
    """How often it ended shortly after its start, and the wait that follows from it."""

    failures: int = 0
    wait_s: float = 0.0

    def after(self, exit_code: int, lived_s: float) -> "Restarts":
        """Return what holds after another end."""
        failures = 1 if lived_s >= STEADY_S else self.failures + 1
        first_s, longest_s = (
            (UNFIT_FIRST_S, UNFIT_LONGEST_S) if exit_code == UNFIT_CODE else (FIRST_S, LONGEST_S)
        )
        doublings = min(failures - 1, 10)
        return replace(self, failures=failures, wait_s=min(first_s * 2**doublings, longest_s))
