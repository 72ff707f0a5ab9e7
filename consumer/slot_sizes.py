"""How many jobs of each lane a consumer takes at once, by what the machine gives it."""

from dataclasses import dataclass

# A trivial page in headless Chromium with its Python child took 354 MiB here (PSS, shared pages
# counted once); a large Storybook takes half as much again. Pictures and comparisons are in it.
CHILD_BYTES = 600 << 20
PARENT_BYTES = 300 << 20  # the consumer itself, with two of the largest pictures in its hands


@dataclass(frozen=True, slots=True)
class Captures:
    """How many captures fit, and what they are bounded by."""

    count: int
    because: str


@dataclass(frozen=True, slots=True)
class SlotSizes:
    """Places on each lane; `because` says where the captures' number comes from."""

    plan: int
    capture: int
    build: int
    deliver: int
    maintain: int
    because: str

    @property
    def children(self) -> int:
        """Return how many browsers may live at once."""
        return self.plan + self.capture


def default_slots(cpus: int, memory_bytes: int, plans: int = 1) -> Captures:
    """Return one capture a CPU, or as many as have memory for a browser beside those of plans."""
    fitting = (memory_bytes - PARENT_BYTES) // CHILD_BYTES - plans
    if fitting >= cpus:
        return Captures(cpus, f"one a CPU of {cpus}")
    return Captures(
        max(1, fitting),
        f"{memory_bytes >> 20} MiB of memory, {CHILD_BYTES >> 20} MiB for each browser",
    )
