"""Whom a token speaks for, for how long, and what is kept of it."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import text

from storyshelf.auth import store
from storyshelf.auth.tokens import NewToken, UnknownTokenError, mint
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import TokenId
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project

TOKEN = mint(bytes(range(32)))
OTHER = mint(bytes(32))


@pytest.fixture
async def tx(db: Database) -> AsyncIterator[Tx]:
    async with db.transaction() as tx:
        yield tx


@pytest.fixture
async def shop(tx: Tx) -> Project:
    return await projects.add(tx, "shop", "Shop", "main")


async def add(
    tx: Tx, project: Project, token: NewToken = TOKEN, lives: timedelta | None = None
) -> TokenId:
    return await store.add_token(tx, project.id, store.TokenUse("ci", lives=lives), token)


async def test_a_token_speaks_for_its_project(tx: Tx, shop: Project) -> None:
    token_id = await add(tx, shop)
    caller = await store.caller_of(tx, TOKEN.secret_hash)
    assert (caller.token_id, caller.project_id, caller.project_slug) == (token_id, shop.id, "shop")
    assert caller.actor == "token ci"


async def test_a_token_that_nobody_made_speaks_for_nobody(tx: Tx, shop: Project) -> None:
    await add(tx, shop)
    with pytest.raises(UnknownTokenError):
        await store.caller_of(tx, OTHER.secret_hash)


async def test_the_text_of_a_token_is_kept_nowhere(tx: Tx, shop: Project) -> None:
    await add(tx, shop)
    found = await tx.execute(text("SELECT CAST(t.* AS text) FROM tokens AS t"))
    kept = found.scalar_one()
    assert TOKEN.secret_hash.hex() in kept
    assert TOKEN.text.removeprefix(TOKEN.hint) not in kept


async def test_a_revoked_token_speaks_for_nobody(tx: Tx, shop: Project) -> None:
    assert await store.revoke(tx, shop.id, await add(tx, shop))
    with pytest.raises(UnknownTokenError, match="revoked"):
        await store.caller_of(tx, TOKEN.secret_hash)


async def test_a_token_is_revoked_once(tx: Tx, shop: Project) -> None:
    token_id = await add(tx, shop)
    assert [await store.revoke(tx, shop.id, token_id) for _ in range(2)] == [True, False]


async def test_a_token_is_revoked_by_its_own_project_only(tx: Tx, shop: Project) -> None:
    token_id = await add(tx, shop)
    other = await projects.add(tx, "other", "Other", "main")
    assert not await store.revoke(tx, other.id, token_id)
    assert (await store.caller_of(tx, TOKEN.secret_hash)).token_id == token_id


@pytest.mark.parametrize("lives", [timedelta(0), timedelta(days=-1)])
async def test_an_expired_token_speaks_for_nobody(tx: Tx, shop: Project, lives: timedelta) -> None:
    await add(tx, shop, lives=lives)
    with pytest.raises(UnknownTokenError, match="expired"):
        await store.caller_of(tx, TOKEN.secret_hash)


async def test_a_token_that_has_not_expired_is_valid(tx: Tx, shop: Project) -> None:
    token_id = await add(tx, shop, lives=timedelta(minutes=1))
    assert (await store.caller_of(tx, TOKEN.secret_hash)).token_id == token_id


async def test_it_is_remembered_when_a_token_was_used(tx: Tx, shop: Project) -> None:
    await add(tx, shop)
    assert (await store.tokens_of(tx, shop.id))[0].last_used_at is None
    await store.caller_of(tx, TOKEN.secret_hash)
    assert (await store.tokens_of(tx, shop.id))[0].last_used_at is not None


@pytest.mark.parametrize(("ago", "is_written"), [("50 seconds", False), ("70 seconds", True)])
async def test_a_use_is_written_once_a_minute_at_most(
    tx: Tx,
    shop: Project,
    ago: str,
    is_written: bool,  # noqa: FBT001  # what is expected
) -> None:
    await add(tx, shop)
    await tx.execute(text(f"UPDATE tokens SET last_used_at = now() - interval '{ago}'"))
    (before,) = await store.tokens_of(tx, shop.id)
    await store.caller_of(tx, TOKEN.secret_hash)
    (after,) = await store.tokens_of(tx, shop.id)
    assert (after.last_used_at != before.last_used_at) == is_written


async def test_a_projects_tokens_are_listed_with_their_hints_and_no_others(
    tx: Tx, shop: Project
) -> None:
    await add(tx, shop)
    await add(tx, await projects.add(tx, "other", "Other", "main"), OTHER)
    assert [token.hint for token in await store.tokens_of(tx, shop.id)] == [TOKEN.hint]
