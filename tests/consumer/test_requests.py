"""What a child may use, and how it is shared out."""

import pytest

from consumer import allowance
from consumer.requests import LEAST_MEMORY_BYTES, memory_ceiling_bytes
from consumer.wiring import Frame
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.failpoint import no_failpoint
from storyshelf.settings import Settings

GIB = 1 << 30


@pytest.mark.parametrize(
    ("machine_gib", "children", "expected_gib"), [(64, 4, 12), (24, 3, 6), (16, 3, 4), (4, 3, 2)]
)
def test_children_share_three_quarters_of_the_machine(
    machine_gib: int, children: int, expected_gib: int
) -> None:
    assert memory_ceiling_bytes(machine_gib * GIB, children) == expected_gib * GIB


async def test_a_ceiling_and_a_number_of_stories_that_were_set_are_kept(db: Database) -> None:
    settings = Settings(child_memory_mb=900, stories_per_child=40)
    limits = Frame(settings, db, SystemClock(), no_failpoint).child_limits
    assert (limits.memory_bytes, limits.stories_per_child) == (900 << 20, 40)


async def test_the_children_of_a_consumer_have_a_ceiling(db: Database) -> None:
    settings = Settings(capture_slots=2, plan_slots=1)
    limits = Frame(settings, db, SystemClock(), no_failpoint).child_limits
    assert limits.slots == 3
    assert limits.memory_bytes is not None
    assert (
        LEAST_MEMORY_BYTES
        <= limits.memory_bytes
        <= max(LEAST_MEMORY_BYTES, allowance.memory_bytes() // 3)
    )
