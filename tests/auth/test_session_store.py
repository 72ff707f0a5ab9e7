"""Sessions and links end: by time, by disuse, by hand, with their user; what ended is removed."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from storyshelf.auth import session_store as sessions
from storyshelf.auth import user_store, users
from storyshelf.auth.session_store import NewSession, SessionLife
from storyshelf.auth.sign_in import hash_of, make_link
from storyshelf.auth.signed_in import NotSignedInError
from storyshelf.db.engine import Database
from storyshelf.ids import SessionId, UserId

DAY = timedelta(days=1)
LIFE = SessionLife(at_most=30 * DAY, idle=7 * DAY)


@pytest.fixture
async def ada(db: Database) -> UserId:
    async with db.transaction() as tx:
        return (await users.add(tx, "a test", users.parse_user("ada@shelf.test"))).id


async def begin(db: Database, user_id: UserId, secret: str = "one") -> SessionId:
    async with db.transaction() as tx:
        return await sessions.add_session(tx, NewSession(user_id, hash_of(secret), "", LIFE))


async def is_signed_in(db: Database, secret: str = "one") -> bool:
    async with db.transaction() as tx:
        try:
            await sessions.signed_in(tx, hash_of(secret))
        except NotSignedInError:
            return False
    return True


async def pass_by(db: Database, columns: str) -> None:
    """Let time pass for every session."""
    async with db.transaction() as tx:
        await tx.execute(text(f"UPDATE sessions SET {columns}"))


async def test_a_session_is_over_when_nobody_came_for_its_idle_time(
    db: Database, ada: UserId
) -> None:
    await begin(db, ada)
    await pass_by(db, "last_used_at = now() - interval '6 days 23 hours'")
    assert await is_signed_in(db)
    await pass_by(db, "last_used_at = now() - interval '7 days 1 minute'")
    assert not await is_signed_in(db)


async def test_a_visit_keeps_it_alive_but_not_beyond_its_end(db: Database, ada: UserId) -> None:
    await begin(db, ada)
    await pass_by(db, "last_used_at = now() - interval '6 days'")
    assert await is_signed_in(db)
    async with db.transaction() as tx:
        ((used,),) = await tx.execute(text("SELECT now() - last_used_at FROM sessions"))
    assert used < timedelta(minutes=1)
    await pass_by(db, "expires_at = now() - interval '1 second'")
    assert not await is_signed_in(db)


async def test_it_speaks_for_nobody_who_is_disabled(db: Database, ada: UserId) -> None:
    session_id = await begin(db, ada)
    async with db.transaction() as tx:
        assert await sessions.alive(tx, session_id) is not None
        await user_store.disable(tx, ada)
        assert await sessions.alive(tx, session_id) is None
    assert not await is_signed_in(db)


async def test_a_link_is_used_once_by_whoever_is_first(db: Database, ada: UserId) -> None:
    async with db.transaction() as tx:
        secret = await make_link(tx, ada, DAY)
    async with db.transaction() as tx:
        assert await sessions.use_link(tx, hash_of(secret))
        assert not await sessions.use_link(tx, hash_of(secret))
        assert await sessions.link_for(tx, hash_of(secret)) is None


async def test_a_link_is_over_in_time_and_with_its_user(db: Database, ada: UserId) -> None:
    async with db.transaction() as tx:
        over = await make_link(tx, ada, timedelta(seconds=-1))
        kept = await make_link(tx, ada, DAY)
        assert await sessions.link_for(tx, hash_of(over)) is None
        assert not await sessions.use_link(tx, hash_of(over))
        await user_store.disable(tx, ada)
        assert not await sessions.use_link(tx, hash_of(kept))


async def test_what_ended_long_ago_is_removed_and_nothing_else(db: Database, ada: UserId) -> None:
    for secret in ("kept", "revoked", "idle", "over", "just over"):
        await begin(db, ada, secret)
    ended = {
        "revoked": "revoked_at = now() - interval '8 days'",
        "idle": "last_used_at = now() - interval '15 days'",
        "over": "expires_at = now() - interval '8 days'",
        "just over": "expires_at = now() - interval '6 days'",
    }
    async with db.transaction() as tx:
        for secret, columns in ended.items():
            statement = text(f"UPDATE sessions SET {columns} WHERE secret_hash = :hash")
            await tx.execute(statement, {"hash": hash_of(secret)})
        await make_link(tx, ada, -8 * DAY)
        await make_link(tx, ada, DAY)
        assert await sessions.remove_ended(tx, 7 * DAY) == 4
        left = await tx.execute(text("SELECT secret_hash FROM sessions ORDER BY id"))
        assert list(left.scalars()) == [hash_of("kept"), hash_of("just over")]
        assert (await tx.execute(text("SELECT count(*) FROM sign_in_links"))).scalar() == 1
