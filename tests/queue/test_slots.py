from dataclasses import replace

from storyshelf.queue.job import Priority
from storyshelf.queue.slots import Offer, Slots
from tests.queue.test_lease_keeper import A_LEASE

NORMAL = A_LEASE
URGENT = replace(A_LEASE, priority=Priority.INTERACTIVE)
LANE = A_LEASE.lane


def test_one_place_in_four_is_kept_for_what_somebody_waits_for() -> None:
    assert Slots({LANE: 8}).hold_all_free() == {LANE: Offer(8, 6)}


def test_few_places_are_all_shared() -> None:
    assert Slots({LANE: 3}).hold_all_free() == {LANE: Offer(3, 3)}


def test_a_process_that_is_full_still_offers_what_it_keeps() -> None:
    slots = Slots({LANE: 4})
    slots.hold_all_free()
    slots.fill([NORMAL] * 3)
    assert slots.hold_all_free() == {LANE: Offer(1, 0)}


def test_what_somebody_waits_for_takes_the_kept_places_first() -> None:
    slots = Slots({LANE: 8})
    slots.hold_all_free()
    slots.fill([URGENT] * 2)
    assert slots.hold_all_free() == {LANE: Offer(6, 6)}


def test_nothing_is_free_while_a_claim_is_under_way() -> None:
    slots = Slots({LANE: 4})
    slots.hold_all_free()
    assert (slots.hold_all_free(), slots.taken, slots.has_shared(LANE)) == ({}, 4, False)


def test_what_a_claim_did_not_bring_is_free_again() -> None:
    slots = Slots({LANE: 4})
    slots.hold_all_free()
    slots.fill([NORMAL])
    assert slots.taken == 1
    slots.give_back(NORMAL)
    assert slots.taken == 0
