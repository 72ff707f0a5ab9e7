"""How many captures a machine is given at once."""

import pytest

from consumer import allowance
from consumer.slot_sizes import CHILD_BYTES, PARENT_BYTES, SlotSizes, default_slots
from consumer.wiring import Frame
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.failpoint import no_failpoint
from storyshelf.settings import Settings

GIB = 1 << 30


@pytest.mark.parametrize(
    ("cpus", "memory_gib", "captures"),
    [(1, 64, 1), (8, 64, 8), (8, 4, 5), (64, 8, 12), (4, 2, 1), (4, 0.5, 1)],
)
def test_a_capture_a_cpu_if_there_is_memory_for_its_browser(
    cpus: int, memory_gib: float, captures: int
) -> None:
    assert default_slots(cpus, int(memory_gib * GIB)).count == captures


def test_browsers_of_plans_have_their_memory_first() -> None:
    for_three = PARENT_BYTES + 3 * CHILD_BYTES
    assert default_slots(8, for_three, plans=1).count == 2
    assert default_slots(8, for_three, plans=2).count == 1


def test_what_bounds_the_captures_is_said() -> None:
    assert default_slots(2, 64 * GIB).because == "one a CPU of 2"
    assert default_slots(8, 2 * GIB).because == "2048 MiB of memory, 600 MiB for each browser"


def test_plans_and_captures_have_a_browser_each() -> None:
    sizes = SlotSizes(plan=1, capture=3, build=2, deliver=4, maintain=1, because="said so")
    assert sizes.children == 4


async def test_what_is_said_beats_what_would_fit(db: Database) -> None:
    settings = Settings(capture_slots=7, plan_slots=2, build_slots=3, deliver_slots=5)
    sizes = Frame(settings, db, SystemClock(), no_failpoint).slot_sizes
    said = (sizes.plan, sizes.capture, sizes.build, sizes.deliver, sizes.maintain)
    assert said == (2, 7, 3, 5, 1)
    assert sizes.because == "STORYSHELF_CAPTURE_SLOTS"


async def test_where_nothing_is_said_the_machine_says_it(db: Database) -> None:
    sizes = Frame(Settings(), db, SystemClock(), no_failpoint).slot_sizes
    assert sizes.capture == default_slots(allowance.cpus(), allowance.memory_bytes()).count
