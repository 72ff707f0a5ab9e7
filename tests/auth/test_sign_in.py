"""The use cases at the door: what is checked, kept and told, and who waits for whom."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from storyshelf.auth import session_store as sessions
from storyshelf.auth import sign_in, user_store, users
from storyshelf.auth.passwords import BadPasswordError, Passwords, TooBusyError
from storyshelf.auth.sign_in import (
    Browser,
    Door,
    UsedLinkError,
    WrongOwnPasswordError,
    WrongPasswordError,
    hash_of,
)
from storyshelf.auth.signed_in import NotSignedInError, SignedIn
from storyshelf.auth.throttle import Allowance, Throttle, TooManyTriesError
from storyshelf.auth.user_store import User
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from tests.people import CHEAP

WORDS = "correct horse battery"
OTHER = "wrong horse battery"
BROWSER = Browser("192.0.2.1", "a browser")
EMAIL = "ada@shelf.test"


def door_on(db: Database, hasher: PasswordHasher = CHEAP, **more: Any) -> Door:
    return Door(db, SystemClock(), passwords=Passwords(hasher), **more)


@pytest.fixture
def door(db: Database) -> Door:
    return door_on(db)


@pytest.fixture
async def ada(door: Door) -> User:
    kept = await door.passwords.hash_of(WORDS)
    async with door.db.transaction() as tx:
        user = await users.add(tx, "a test", users.parse_user(EMAIL, "Ada"))
        await user_store.set_password(tx, user.id, kept)
    return user


async def who_has(door: Door, cookie: str) -> SignedIn:
    async with door.db.transaction() as tx:
        return await sessions.signed_in(tx, hash_of(cookie))


async def kept_hash(db: Database) -> str:
    async with db.transaction() as tx:
        return str((await tx.execute(text("SELECT password_hash FROM users"))).scalar_one())


async def told(db: Database) -> list[tuple[str, str, Mapping[str, Any]]]:
    async with db.transaction() as tx:
        found = await tx.execute(
            text("SELECT actor, action, detail FROM audit_events WHERE actor <> 'a test'")
        )
        return [(row.actor, row.action, row.detail) for row in found]


async def test_each_sign_in_has_a_secret_of_its_own_that_is_not_kept(door: Door, ada: User) -> None:
    one = await sign_in.by_password(door, EMAIL, WORDS, BROWSER)
    two = await sign_in.by_password(door, "ADA@shelf.test", WORDS, BROWSER)
    assert one != two
    assert (await who_has(door, one)).email == (await who_has(door, two)).email == EMAIL
    async with door.db.transaction() as tx:
        rows = repr(list(await tx.execute(text("SELECT * FROM sessions"))))
    assert one not in rows
    detail = {"how": "password", "address": "192.0.2.1"}
    assert await told(door.db) == [(EMAIL, "user.sign_in", detail)] * 2


@pytest.mark.parametrize(
    ("email", "password"),
    [(EMAIL, OTHER), (EMAIL, ""), ("cleo@shelf.test", WORDS), ("", ""), (EMAIL, WORDS * 200)],
)
async def test_nobody_comes_in_otherwise(door: Door, ada: User, email: str, password: str) -> None:
    with pytest.raises(WrongPasswordError):
        await sign_in.by_password(door, email, password, BROWSER)
    assert await told(door.db) == []


async def test_who_has_no_password_does_not_come_in_by_one(door: Door, ada: User) -> None:
    async with door.db.transaction() as tx:
        await user_store.set_password(tx, ada.id, None)
    with pytest.raises(WrongPasswordError):
        await sign_in.by_password(door, EMAIL, "", BROWSER)


async def test_who_is_disabled_does_not_come_in_with_the_right_password(
    door: Door, ada: User
) -> None:
    async with door.db.transaction() as tx:
        await users.disable(tx, "a test", ada)
    with pytest.raises(WrongPasswordError):
        await sign_in.by_password(door, EMAIL, WORDS, BROWSER)


async def test_who_is_disabled_while_the_password_is_checked_does_not_come_in(
    door: Door, ada: User
) -> None:
    async with door.db.transaction() as tx:
        await user_store.disable(tx, ada.id)
        coming = asyncio.ensure_future(sign_in.by_password(door, EMAIL, WORDS, BROWSER))
        await waits_for_a_lock(door.db)
    with pytest.raises(WrongPasswordError):
        await coming


async def test_a_password_that_is_changed_meanwhile_opens_nothing(door: Door, ada: User) -> None:
    async with door.db.transaction() as tx:
        await user_store.set_password(tx, ada.id, "another")
        coming = asyncio.ensure_future(sign_in.by_password(door, EMAIL, WORDS, BROWSER))
        await waits_for_a_lock(door.db)
    with pytest.raises(WrongPasswordError):
        await coming


async def test_a_hash_of_other_costs_is_made_anew_at_the_next_sign_in(
    door: Door, ada: User
) -> None:
    dearer = door_on(door.db, PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    before = await kept_hash(door.db)
    await sign_in.by_password(dearer, EMAIL, WORDS, BROWSER)
    after = await kept_hash(door.db)
    assert "m=16,t=2" in after
    assert after != before
    await sign_in.by_password(dearer, EMAIL, WORDS, BROWSER)
    assert await kept_hash(door.db) == after


async def test_two_sign_ins_at_once_that_make_the_hash_anew_lock_nobody_out(
    door: Door, ada: User
) -> None:
    dearer = door_on(door.db, PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    tries = (sign_in.by_password(dearer, EMAIL, WORDS, BROWSER) for _ in range(2))
    found = await asyncio.gather(*tries, return_exceptions=True)
    assert any(isinstance(one, str) for one in found)
    assert await sign_in.by_password(dearer, EMAIL, WORDS, BROWSER)


async def test_guessing_ends_in_a_wait_and_the_right_password_is_not_looked_at(
    db: Database, ada: User
) -> None:
    door = door_on(db, throttle=Throttle(Allowance(2, 60), Allowance(100, 1)))
    for _ in range(2):
        with pytest.raises(WrongPasswordError):
            await sign_in.by_password(door, EMAIL, OTHER, BROWSER)
    with pytest.raises(TooManyTriesError) as refused:
        await sign_in.by_password(door, EMAIL, WORDS, BROWSER)
    assert 58 <= refused.value.retry_after_s <= 60


async def test_a_try_that_nobody_looked_at_is_not_counted(db: Database, ada: User) -> None:
    door = Door(
        db,
        SystemClock(),
        passwords=Passwords(CHEAP, waiting=-2),  # as if all places were taken
        throttle=Throttle(Allowance(2, 60), Allowance(2, 60)),
    )
    for _ in range(5):
        with pytest.raises(TooBusyError):
            await sign_in.by_password(door, EMAIL, WORDS, BROWSER)


async def test_a_link_lets_one_browser_in_of_two_that_come_at_once(door: Door, ada: User) -> None:
    async with door.db.transaction() as tx:
        link = await users.link(tx, "a test", ada)
    tries = (sign_in.by_link(door, link, BROWSER) for _ in range(2))
    found = await asyncio.gather(*tries, return_exceptions=True)
    assert sorted(type(one).__name__ for one in found) == ["UsedLinkError", "tuple"]
    assert await told(door.db) == [(EMAIL, "user.sign_in", {"how": "link", "address": "192.0.2.1"})]


@pytest.mark.parametrize("link", ["", "x", "x" * 5000, "%00", "é"])
async def test_what_was_never_a_link_is_as_one_that_is_over(door: Door, link: str) -> None:
    with pytest.raises(UsedLinkError):
        await sign_in.whom(door, link)


async def test_a_new_password_signs_the_other_browsers_out(door: Door, ada: User) -> None:
    here = await sign_in.by_password(door, EMAIL, WORDS, BROWSER)
    there = await sign_in.by_password(door, EMAIL, WORDS, BROWSER)
    async with door.db.transaction() as tx:
        link = await users.link(tx, "a test", ada)
    await sign_in.change_password(door, await who_has(door, here), WORDS, "a better password")
    assert (await who_has(door, here)).email == EMAIL
    with pytest.raises(NotSignedInError):
        await who_has(door, there)
    with pytest.raises(UsedLinkError):
        await sign_in.whom(door, link)
    assert await sign_in.by_password(door, EMAIL, "a better password", BROWSER)
    assert (EMAIL, "user.set_password", {"ended": 1}) in await told(door.db)


async def test_who_does_not_know_the_present_password_sets_none(door: Door, ada: User) -> None:
    who = await who_has(door, await sign_in.by_password(door, EMAIL, WORDS, BROWSER))
    before = await kept_hash(door.db)
    with pytest.raises(WrongOwnPasswordError):
        await sign_in.change_password(door, who, OTHER, "a better password")
    with pytest.raises(BadPasswordError):
        await sign_in.change_password(door, who, WORDS, "short")
    assert await kept_hash(door.db) == before


async def test_a_session_that_ended_meanwhile_sets_no_password(door: Door, ada: User) -> None:
    """Whoever was signed in by a link needs to know no password, and may be out by now."""
    async with door.db.transaction() as tx:
        link = await users.reset(tx, "a test", ada)
    cookie, _ = await sign_in.by_link(door, link, BROWSER)
    who = await who_has(door, cookie)
    async with door.db.transaction() as tx:
        await users.reset(tx, "a test", ada)
    with pytest.raises(NotSignedInError):
        await sign_in.change_password(door, who, "", "a better password")
    with pytest.raises(WrongPasswordError):
        await sign_in.by_password(door, EMAIL, "a better password", BROWSER)


async def test_the_present_password_is_not_guessed_fast_either(db: Database, ada: User) -> None:
    door = door_on(db, throttle=Throttle(Allowance(2, 60), Allowance(100, 1)))
    who = await who_has(door, await sign_in.by_password(door, EMAIL, WORDS, BROWSER))
    for _ in range(2):
        with pytest.raises(WrongOwnPasswordError):
            await sign_in.change_password(door, who, OTHER, "a better password")
    with pytest.raises(TooManyTriesError):
        await sign_in.change_password(door, who, WORDS, "a better password")


async def test_signing_out_everywhere_leaves_no_session_and_no_link(door: Door, ada: User) -> None:
    cookies = [await sign_in.by_password(door, EMAIL, WORDS, BROWSER) for _ in range(2)]
    async with door.db.transaction() as tx:
        link = await users.link(tx, "a test", ada)
    assert await sign_in.sign_out_everywhere(door.db, await who_has(door, cookies[0])) == 2
    for cookie in cookies:
        with pytest.raises(NotSignedInError):
            await who_has(door, cookie)
    with pytest.raises(UsedLinkError):
        await sign_in.whom(door, link)


async def waits_for_a_lock(db: Database) -> None:
    """Look until a statement waits for another transaction."""
    while True:
        async with db.transaction() as tx:
            waiting = await tx.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted"))
            if waiting.scalar_one():
                return
