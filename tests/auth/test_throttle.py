"""Guessing is slow, for one account from anywhere and for one address at any account."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.auth.throttle import (
    FOR_ACCOUNT,
    MOST_KEPT,
    Allowance,
    Throttle,
    TooManyTriesError,
    network_of,
)

THREE = Allowance(failures=3, refill_s=10)
MANY = Allowance(failures=1000, refill_s=1)


def refused(throttle: Throttle, email: str, address: str, now_s: float) -> int:
    with pytest.raises(TooManyTriesError) as error:
        throttle.take(email, address, now_s)
    return error.value.retry_after_s


def test_an_account_is_guessed_at_slowly_from_however_many_addresses() -> None:
    throttle = Throttle(THREE, MANY)
    for number in range(3):
        throttle.take("Ada@shelf.test", f"192.0.2.{number}", 100)
    assert refused(throttle, "ada@shelf.test", "192.0.2.9", 100) == 10
    assert refused(throttle, "ada@shelf.test", "192.0.2.9", 104) == 6
    throttle.take("ada@shelf.test", "192.0.2.9", 110)
    assert refused(throttle, "ada@shelf.test", "192.0.2.9", 111) == 9


def test_an_address_guesses_slowly_at_however_many_accounts() -> None:
    throttle = Throttle(MANY, THREE)
    for number in range(3):
        throttle.take(f"{number}@shelf.test", "192.0.2.1", 0)
    assert refused(throttle, "ada@shelf.test", "192.0.2.1", 0) == 10
    throttle.take("ada@shelf.test", "192.0.2.2", 0)


def test_what_was_right_costs_nothing() -> None:
    throttle = Throttle(THREE, THREE)
    for _ in range(20):
        throttle.take("ada@shelf.test", "192.0.2.1", 0)
        throttle.give_back("ada@shelf.test", "192.0.2.1", 0)
    for _ in range(3):
        throttle.take("ada@shelf.test", "192.0.2.1", 0)
    refused(throttle, "ada@shelf.test", "192.0.2.1", 0)


def test_a_try_that_is_refused_is_not_counted() -> None:
    throttle = Throttle(THREE, MANY)
    for _ in range(3):
        throttle.take("ada@shelf.test", "192.0.2.1", 0)
    for second in range(10):
        refused(throttle, "ada@shelf.test", "192.0.2.1", second)
    throttle.take("ada@shelf.test", "192.0.2.1", 10)


def test_memory_is_bounded_however_many_try() -> None:
    throttle = Throttle(THREE, THREE)
    for number in range(MOST_KEPT):
        throttle.take(f"{number}@shelf.test", f"host-{number}", number)
    assert len(throttle._left) == MOST_KEPT


def test_tries_that_cost_nothing_push_nobody_out() -> None:
    """Who is told that it is too busy has tried nothing, and could say so a million times."""
    throttle = Throttle(THREE, MANY)
    for _ in range(THREE.failures):
        throttle.take("ada@shelf.test", "host", 0)
    for number in range(MOST_KEPT):
        throttle.take(f"{number}@shelf.test", f"host-{number}", 0)
        throttle.give_back(f"{number}@shelf.test", f"host-{number}", 0)
    refused(throttle, "ada@shelf.test", "host", 0)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_ipv6_network_is_one_address(address: str, network: str) -> None:
    assert network_of(address) == network


@given(st.lists(st.floats(min_value=0, max_value=100), max_size=60))
def test_nobody_guesses_faster_than_the_allowance(pauses_s: list[float]) -> None:
    throttle, now_s, let_through = Throttle(for_address=MANY), 0.0, 0
    for pause_s in pauses_s:
        now_s += pause_s
        try:
            throttle.take("ada@shelf.test", "192.0.2.1", now_s)
        except TooManyTriesError:
            continue
        let_through += 1
    assert let_through <= FOR_ACCOUNT.failures + now_s / FOR_ACCOUNT.refill_s + 1e-6
