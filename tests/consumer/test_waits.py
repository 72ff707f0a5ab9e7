"""A handler waits for nothing longer than its lease can stand."""

import pytest

from consumer.requests import Limits
from consumer.waits import waits_within
from consumer.wiring import Frame
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.failpoint import no_failpoint
from storyshelf.settings import Settings


@pytest.mark.parametrize("lease_s", [6, 8, 30, 60])
def test_every_wait_is_under_half_a_lease(lease_s: float) -> None:
    waits = waits_within(lease_s)
    assert waits.one_s < lease_s / 2
    assert waits.read_ms / 1000 + waits.grace_s < lease_s / 2


def test_a_long_lease_makes_nobody_wait_longer() -> None:
    assert waits_within(3600) == waits_within(600)


async def test_what_a_child_is_waited_for_follows_the_lease(db: Database) -> None:
    limits = Frame(Settings(lease_s=10), db, SystemClock(), no_failpoint).child_limits
    waited = (limits.open_s, limits.compare_s, limits.write_s, limits.grace_s)
    assert waited == (4.0, 4.0, 4.0, 1.5)
    assert max(waited) < Limits().open_s
