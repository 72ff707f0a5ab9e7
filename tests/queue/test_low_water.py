from collections.abc import Sequence
from dataclasses import replace

from storyshelf.queue.job import Lease, Priority
from storyshelf.queue.low_water import LowWater
from storyshelf.queue.slots import Offer
from tests.queue.test_lease_keeper import A_LEASE

LANE = A_LEASE.lane
TWO = {LANE: Offer(2, 2)}


def leases(*tags: int, priority: Priority = Priority.DEFAULT) -> Sequence[Lease]:
    return [replace(A_LEASE, fair_tag=tag, priority=priority) for tag in tags]


def after(*tags: int) -> LowWater:
    """The floors after a claim that looked at everything and brought jobs of these tags."""
    water = LowWater(2.0)
    water.bound(TWO, 0.0)
    water.learn(leases(*tags))
    return water


def test_a_claim_begins_where_the_one_before_began() -> None:
    assert after(7, 9).bound(TWO, 1.0) == {LANE: Offer(2, 2, {Priority.DEFAULT: 7})}


def test_one_that_brought_nothing_leaves_the_floor_where_it_is() -> None:
    water = after(7, 9)
    water.learn([])
    assert water.bound(TWO, 1.0) == {LANE: Offer(2, 2, {Priority.DEFAULT: 7})}


def test_once_in_a_while_everything_is_looked_at() -> None:
    water = after(7, 9)
    water.bound(TWO, 0.5)
    assert water.next_look_s(0.5) == 1.5
    assert water.bound(TWO, 2.0) == TWO
    assert water.next_look_s(2.0) is None


def test_a_look_at_everything_counts_from_when_it_was_made() -> None:
    water = after(7, 9)
    water.bound(TWO, 3.0)
    water.learn(leases(11))
    water.bound(TWO, 4.0)
    assert water.next_look_s(4.0) == 1.0


def test_a_look_that_finds_nothing_leaves_the_floor_where_it_is() -> None:
    water = after(7, 9)
    water.bound(TWO, 3.0)
    water.learn([])
    assert water.bound(TWO, 4.0) == {LANE: Offer(2, 2, {Priority.DEFAULT: 7})}


def test_everything_is_looked_at_when_something_has_gone_back() -> None:
    water = after(7, 9)
    water.forget()
    assert water.bound(TWO, 1.0) == TWO


def test_without_floors_nothing_is_due() -> None:
    water = LowWater(2.0)
    water.bound(TWO, 0.0)
    assert water.next_look_s(1.0) is None


def test_each_class_has_a_floor_of_its_own() -> None:
    water = LowWater(2.0)
    water.bound(TWO, 0.0)
    water.learn([*leases(3, priority=Priority.INTERACTIVE), *leases(50)])
    (offer,) = water.bound(TWO, 1.0).values()
    assert offer.floors == {Priority.INTERACTIVE: 3, Priority.DEFAULT: 50}
