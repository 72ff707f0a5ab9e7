"""All SQL of sessions and of the links that begin one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, or_, select, update

from storyshelf.auth.permissions import Role
from storyshelf.auth.signed_in import NotSignedInError, SignedIn
from storyshelf.db.engine import Tx
from storyshelf.db.tables import MemberRow, SessionRow, SignInLinkRow, UserRow
from storyshelf.ids import ProjectId, SessionId, UserId


@dataclass(frozen=True, slots=True)
class SessionLife:
    """How long a session lasts at most, and how long without being used."""

    at_most: timedelta
    idle: timedelta


@dataclass(frozen=True, slots=True)
class NewSession:
    """A browser that is about to be signed in."""

    user_id: UserId
    secret_hash: bytes
    user_agent: str
    life: SessionLife


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as its owner is shown it."""

    id: SessionId
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkFor:
    """Whom a sign-in link signs in, and whether that person has a password."""

    user_id: UserId
    email: str
    name: str
    has_password: bool


async def add_session(tx: Tx, session: NewSession) -> SessionId:
    """Sign a browser in."""
    made = await tx.execute(
        insert(SessionRow)
        .values(
            user_id=session.user_id,
            secret_hash=session.secret_hash,
            user_agent=session.user_agent,
            idle=session.life.idle,
            expires_at=func.now() + session.life.at_most,
        )
        .returning(SessionRow.id)
    )
    return SessionId(made.scalar_one())


async def signed_in(tx: Tx, secret_hash: bytes) -> SignedIn:
    """Return whom the session speaks for, and remember that it was used (to the minute).

    Raises NotSignedInError when there is none, it is over, or its user is disabled.
    """
    found = (
        await tx.execute(
            select(
                *(SessionRow.id, SessionRow.user_id, UserRow.email, UserRow.name),
                UserRow.is_admin,
                (SessionRow.last_used_at < func.now() - timedelta(minutes=1)).label("is_stale"),
            )
            .join(UserRow, UserRow.id == SessionRow.user_id)
            .where(SessionRow.secret_hash == secret_hash, _is_alive())
        )
    ).one_or_none()
    if found is None:
        raise NotSignedInError
    if found.is_stale:
        await tx.execute(
            update(SessionRow).where(SessionRow.id == found.id).values(last_used_at=func.now())
        )
    return SignedIn(
        session_id=SessionId(found.id),
        user_id=UserId(found.user_id),
        email=found.email,
        name=found.name,
        is_admin=found.is_admin,
        roles=await _roles_of(tx, UserId(found.user_id)),
    )


async def alive(tx: Tx, session_id: SessionId) -> SignedIn | None:
    """Return whom a session that was handed on speaks for; None: it is over."""
    found = (
        await tx.execute(
            select(SessionRow.user_id, UserRow.email, UserRow.name, UserRow.is_admin)
            .join(UserRow, UserRow.id == SessionRow.user_id)
            .where(SessionRow.id == session_id, _is_alive())
        )
    ).one_or_none()
    if found is None:
        return None
    user_id = UserId(found.user_id)
    roles = await _roles_of(tx, user_id)
    return SignedIn(session_id, user_id, found.email, found.name, found.is_admin, roles)


async def sessions_of(tx: Tx, user_id: UserId, limit: int) -> Sequence[KeptSession]:
    """Return where somebody is signed in, what was used last first."""
    rows = await tx.execute(
        select(
            *(SessionRow.id, SessionRow.user_agent, SessionRow.created_at),
            *(SessionRow.last_used_at, SessionRow.expires_at),
        )
        .join(UserRow, UserRow.id == SessionRow.user_id)
        .where(SessionRow.user_id == user_id, _is_alive())
        .order_by(SessionRow.last_used_at.desc(), SessionRow.id.desc())
        .limit(limit)
    )
    return [KeptSession(SessionId(row.id), *row[1:]) for row in rows]


async def revoke_session(tx: Tx, user_id: UserId, session_id: SessionId) -> bool:
    """Sign one browser of somebody out; return whether it was signed in."""
    return await _revoke(tx, SessionRow.user_id == user_id, SessionRow.id == session_id) == 1


async def revoke_sessions(tx: Tx, user_id: UserId, *, but: SessionId | None = None) -> int:
    """Sign somebody out everywhere, except in one browser if so wanted; return of how many."""
    others = [] if but is None else [SessionRow.id != but]
    return await _revoke(tx, SessionRow.user_id == user_id, *others)


async def revoke_by_secret(tx: Tx, secret_hash: bytes) -> None:
    """End the session that a browser had before it is given another."""
    await _revoke(tx, SessionRow.secret_hash == secret_hash)


async def add_link(tx: Tx, user_id: UserId, secret_hash: bytes, lives: timedelta) -> None:
    """Keep a new sign-in link's hash."""
    expires_at = func.now() + lives
    row = {"user_id": user_id, "secret_hash": secret_hash}
    await tx.execute(insert(SignInLinkRow).values(expires_at=expires_at, **row))


async def link_for(tx: Tx, secret_hash: bytes) -> LinkFor | None:
    """Return whom a link signs in, without using it up; None: it is used, over or unknown."""
    found = (
        await tx.execute(
            select(
                *(UserRow.id, UserRow.email, UserRow.name),
                UserRow.password_hash.is_not(None).label("has_password"),
            )
            .join(SignInLinkRow, SignInLinkRow.user_id == UserRow.id)
            .where(SignInLinkRow.secret_hash == secret_hash, _is_usable())
        )
    ).one_or_none()
    return None if found is None else LinkFor(UserId(found.id), *found[1:])


async def use_link(tx: Tx, secret_hash: bytes) -> bool:
    """Use a link up; of several that try at once, one is told that it did."""
    done = await tx.execute(
        update(SignInLinkRow)
        .where(
            SignInLinkRow.secret_hash == secret_hash,
            SignInLinkRow.user_id == UserRow.id,
            _is_usable(),
        )
        .values(used_at=func.now())
    )
    return done.rowcount == 1


async def end_links(tx: Tx, user_id: UserId) -> None:
    """Make every link that was given out for somebody useless."""
    await tx.execute(
        update(SignInLinkRow)
        .where(SignInLinkRow.user_id == user_id, SignInLinkRow.used_at.is_(None))
        .values(used_at=func.now())
    )


async def any_ended(tx: Tx, kept: timedelta) -> bool:
    """Say whether there are sessions or links that ended that long ago."""
    found = await tx.execute(
        select(or_(exists().where(_link_ended(kept)), exists().where(_session_ended(kept))))
    )
    return bool(found.scalar_one())


async def remove_ended(tx: Tx, kept: timedelta) -> int:
    """Remove sessions and links that ended that long ago; return how many."""
    links = await tx.execute(delete(SignInLinkRow).where(_link_ended(kept)))
    sessions = await tx.execute(delete(SessionRow).where(_session_ended(kept)))
    return links.rowcount + sessions.rowcount


def _link_ended(kept: timedelta) -> ColumnElement[bool]:
    before = func.now() - kept
    return or_(SignInLinkRow.expires_at < before, SignInLinkRow.used_at < before)


def _session_ended(kept: timedelta) -> ColumnElement[bool]:
    before = func.now() - kept
    return or_(
        SessionRow.expires_at < before,
        SessionRow.revoked_at < before,
        SessionRow.last_used_at + SessionRow.idle < before,
    )


def _is_alive() -> ColumnElement[bool]:
    return and_(
        SessionRow.revoked_at.is_(None),
        SessionRow.expires_at > func.now(),
        SessionRow.last_used_at + SessionRow.idle > func.now(),
        UserRow.disabled_at.is_(None),
    )


def _is_usable() -> ColumnElement[bool]:
    return and_(
        SignInLinkRow.used_at.is_(None),
        SignInLinkRow.expires_at > func.now(),
        UserRow.disabled_at.is_(None),
    )


async def _roles_of(tx: Tx, user_id: UserId) -> dict[ProjectId, Role]:
    rows = await tx.execute(
        select(MemberRow.project_id, MemberRow.role).where(MemberRow.user_id == user_id)
    )
    return {ProjectId(row.project_id): Role(row.role) for row in rows}


async def _revoke(tx: Tx, *which: ColumnElement[bool]) -> int:
    done = await tx.execute(
        update(SessionRow)
        .where(SessionRow.revoked_at.is_(None), *which)
        .values(revoked_at=func.now())
    )
    return done.rowcount
