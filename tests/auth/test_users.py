"""Who administers the server cannot be lost, not even by two who act at once."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.auth import user_store, users
from storyshelf.auth.user_store import User
from storyshelf.auth.users import (
    FIRST_EMAIL,
    BadEmailError,
    BadNameError,
    LastAdminError,
    parse_user,
)
from storyshelf.db.engine import Database
from tests.auth.test_sign_in import waits_for_a_lock

ADA, CLEO = "ada@shelf.test", "cleo@shelf.test"


async def an_admin(db: Database, email: str) -> User:
    async with db.transaction() as tx:
        return await users.add(tx, "a test", parse_user(email, is_admin=True))


async def test_two_administrators_who_shut_each_other_out_leave_one(db: Database) -> None:
    ada, cleo = await an_admin(db, ADA), await an_admin(db, CLEO)

    async def shut_out(whom: User) -> None:
        async with db.transaction() as tx:
            await users.disable(tx, "a test", whom)

    async with db.transaction() as tx:
        await users.disable(tx, CLEO, ada)
        second = asyncio.ensure_future(shut_out(cleo))
        await waits_for_a_lock(db)
    with pytest.raises(LastAdminError):
        await second
    async with db.transaction() as tx:
        assert await user_store.hold_admins(tx) == [cleo.id]


async def test_the_last_one_cannot_step_back_either(db: Database) -> None:
    ada = await an_admin(db, ADA)
    async with db.transaction() as tx:
        with pytest.raises(LastAdminError):
            await users.end_admin(tx, ADA, ada)


async def test_the_first_administrator_is_made_once_and_only_where_nobody_is(db: Database) -> None:
    async with db.transaction() as tx:
        await users.add_first(tx, "a test")
        await users.add_first(tx, "a test")
        (only,) = await user_store.users_page(tx, after_email="", limit=9)
    assert (only.email, only.is_admin, only.has_password) == (FIRST_EMAIL, True, False)


async def test_where_somebody_is_nobody_is_made(db: Database) -> None:
    await an_admin(db, ADA)
    async with db.transaction() as tx:
        await users.add_first(tx, "a test")
        assert [one.email for one in await user_store.users_page(tx, after_email="", limit=9)] == [
            ADA
        ]


@pytest.mark.parametrize("name", ["a\nb", "x" * 201, "a\u202eb"])
def test_a_name_is_one_line_that_can_be_shown(name: str) -> None:
    with pytest.raises(BadNameError):
        parse_user(ADA, name)


def test_a_name_that_is_not_given_is_what_is_before_the_at() -> None:
    assert parse_user(" Ada.L@Shelf.test ", "  ") == users.NewUser("ada.l@shelf.test", "ada.l")


@given(st.text(max_size=40))
def test_whatever_is_typed_makes_an_address_or_is_refused(text: str) -> None:
    try:
        made = parse_user(text)
    except (BadEmailError, BadNameError):
        return
    assert made.email == made.email.strip().lower()
    assert made.email.isprintable()
    assert not any(map(str.isspace, made.email))
    assert made.name
