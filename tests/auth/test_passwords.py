"""Passwords: what may be one; checks cost the same for everybody, in bounded memory."""

import asyncio
import threading
from typing import Literal

import pytest
from argon2 import PasswordHasher

from storyshelf.auth.passwords import (
    AT_ONCE,
    USUAL,
    BadPasswordError,
    Passwords,
    TooBusyError,
    require_good,
)
from tests.people import CHEAP

WORDS = "correct horse battery"
EMAIL = "ada.lovelace@shelf.test"


class Counting(PasswordHasher):
    """Stands still in each hash until it is let go, and counts how many do so at once."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.at_once = self.most_at_once = self.checked = 0
        self.lock = threading.Lock()
        self.may_go = threading.Event()

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
        with self.lock:
            self.checked += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        assert self.may_go.wait(10)
        with self.lock:
            self.at_once -= 1
        return super().verify(hash, password)


async def test_a_hash_is_of_one_password_only_and_different_each_time() -> None:
    passwords = Passwords(CHEAP)
    kept = await passwords.hash_of(WORDS)
    assert kept.startswith("$argon2id$")
    assert WORDS not in kept
    assert kept != await passwords.hash_of(WORDS)
    assert await passwords.is_right(kept, WORDS)
    assert not await passwords.is_right(kept, f"{WORDS} ")


async def test_an_accent_is_the_same_however_a_keyboard_makes_it() -> None:
    passwords = Passwords(CHEAP)
    assert await passwords.is_right(
        await passwords.hash_of("caf\u00e9 caf\u00e9 12"), "cafe\u0301 cafe\u0301 12"
    )


async def test_what_is_kept_and_is_no_hash_fits_nothing() -> None:
    assert not await Passwords(CHEAP).is_right("none", WORDS)


async def test_a_stranger_costs_as_much_as_somebody_known() -> None:
    hasher = Counting()
    hasher.may_go.set()
    passwords = Passwords(hasher)
    assert not await passwords.is_right(None, WORDS)
    assert hasher.checked == 1


async def test_nobody_s_hash_costs_what_everybody_s_does() -> None:
    passwords = Passwords(USUAL)
    assert not passwords.is_outdated(passwords._nobodys)


async def test_only_a_few_are_checked_at_once_and_only_a_few_more_wait() -> None:
    hasher = Counting()
    passwords = Passwords(hasher, waiting=3)
    tries = [asyncio.ensure_future(passwords.is_right(None, WORDS)) for _ in range(AT_ONCE + 3)]
    await asyncio.wait(tries, timeout=0)
    with pytest.raises(TooBusyError):
        await passwords.is_right(None, WORDS)
    hasher.may_go.set()
    assert await asyncio.gather(*tries) == [False] * (AT_ONCE + 3)
    assert hasher.most_at_once == AT_ONCE
    assert not await passwords.is_right(None, WORDS)


def test_other_costs_are_noticed() -> None:
    assert Passwords(USUAL).is_outdated(CHEAP.hash(WORDS))
    assert not Passwords(CHEAP).is_outdated(CHEAP.hash(WORDS))


@pytest.mark.parametrize("good", [WORDS, "a" * 11 + "b", "é" * 199 + "x"])
def test_length_is_what_makes_a_password(good: str) -> None:
    require_good(good, EMAIL)


@pytest.mark.parametrize(
    "bad", ["", "a" * 11, "x" * 201, "7" * 20, "Ada.Lovelace@shelf.test", "ADA.lovelace"]
)
def test_what_is_short_endless_or_guessed_at_once_is_none(bad: str) -> None:
    with pytest.raises(BadPasswordError) as refused:
        require_good(bad, EMAIL)
    assert bad not in str(refused.value) or not bad
