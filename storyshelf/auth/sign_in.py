"""How a browser is signed in and out: the use cases, each with its audit event.

What a person holds in the browser, in a link or in the head is never kept: of a cookie and of a
link only the sha256, of a password the argon2id hash.
"""

import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256

import structlog

from storyshelf.audit import store as audit
from storyshelf.auth import session_store as sessions
from storyshelf.auth import user_store as users
from storyshelf.auth.passwords import Passwords, require_good
from storyshelf.auth.session_store import LinkFor, NewSession, SessionLife
from storyshelf.auth.signed_in import NotSignedInError, SignedIn
from storyshelf.auth.throttle import Throttle
from storyshelf.auth.user_store import Credentials
from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.errors import BadInputError, NotFoundError
from storyshelf.ids import SessionId, UserId

SECRET_BYTES = 32
MAX_USER_AGENT = 300
USUAL_LIFE = SessionLife(at_most=timedelta(days=30), idle=timedelta(days=7))

log = structlog.get_logger(__name__)


class WrongPasswordError(BadInputError):
    """The address and the password do not go together; which of them is wrong is not said."""

    def __init__(self) -> None:
        super().__init__(
            "The address or the password is wrong",
            next_step="Try again, or ask a server administrator for a sign-in link.",
        )


class WrongOwnPasswordError(BadInputError):
    """Whoever sits at a browser that is signed in does not know the present password."""

    def __init__(self) -> None:
        super().__init__(
            "The present password is wrong",
            next_step="Try again, or have it reset: `storyshelf user reset EMAIL`.",
        )


class UsedLinkError(NotFoundError):
    """The link was used, is over, or never was one."""

    def __init__(self) -> None:
        super().__init__(
            "This sign-in link does not work any more",
            next_step="Ask a server administrator for another: `storyshelf user reset EMAIL`.",
        )


@dataclass(frozen=True, slots=True)
class Browser:
    """From where somebody signs in, and the session it had so far."""

    address: str
    user_agent: str
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class Door:
    """What signing in is done with."""

    db: Database
    clock: Clock
    life: SessionLife = USUAL_LIFE
    passwords: Passwords = field(default_factory=Passwords)
    throttle: Throttle = field(default_factory=Throttle)


def new_secret() -> str:
    """Return 256 random bits for a cookie or a link."""
    return urlsafe_b64encode(secrets.token_bytes(SECRET_BYTES)).rstrip(b"=").decode()


def hash_of(secret: str) -> bytes:
    """Return what is kept of a cookie's or a link's secret."""
    return sha256(secret.encode()).digest()


async def by_password(door: Door, email: str, password: str, browser: Browser) -> str:
    """Sign a browser in and return its new cookie.

    Raises WrongPasswordError, TooManyTriesError, TooBusyError.
    """
    async with door.db.transaction() as tx:
        kept = await users.credentials_of(tx, email)
    is_right = await _try_password(door, (email, browser.address), kept, password)
    if kept is None or not is_right:
        log.warning("sign_in.refused", address=browser.address)
        raise WrongPasswordError
    renewed = await _renewed(door, kept, password)
    async with door.db.transaction() as tx:
        if not await users.hold_user(tx, kept.user_id, kept.password_hash):
            raise WrongPasswordError
        if renewed is not None:
            await users.set_password(tx, kept.user_id, renewed)
        cookie = await _begin(tx, door, kept.user_id, browser)
        await _tell(tx, email.lower(), "user.sign_in", how="password", address=browser.address)
    return cookie


async def whom(door: Door, link: str) -> LinkFor:
    """Return whom a link would sign in; looking uses nothing up. Raises UsedLinkError."""
    async with door.db.transaction() as tx:
        return await _whom(tx, link)


async def by_link(door: Door, link: str, browser: Browser) -> tuple[str, LinkFor]:
    """Sign a browser in by a link that works once; return its new cookie and whose it is.

    Raises UsedLinkError.
    """
    async with door.db.transaction() as tx:
        found = await _whom(tx, link)
        held = await users.hold_user(tx, found.user_id)
        if not held or not await sessions.use_link(tx, hash_of(link)):
            raise UsedLinkError
        cookie = await _begin(tx, door, found.user_id, browser)
        await _tell(tx, found.email, "user.sign_in", how="link", address=browser.address)
    return cookie, found


async def sign_out(db: Database, who: SignedIn) -> None:
    """End the session."""
    async with db.transaction() as tx:
        if await sessions.revoke_session(tx, who.user_id, who.session_id):
            await _tell(tx, who.actor, "user.sign_out")


async def end_session(db: Database, who: SignedIn, session_id: SessionId) -> bool:
    """Sign another browser of one's own out; return whether it was signed in."""
    async with db.transaction() as tx:
        ended = await sessions.revoke_session(tx, who.user_id, session_id)
        if ended:
            await _tell(tx, who.actor, "session.revoke", session=session_id)
    return ended


async def sign_out_everywhere(db: Database, who: SignedIn) -> int:
    """End all of one's own sessions, this one too; return how many."""
    async with db.transaction() as tx:
        ended = await sessions.revoke_sessions(tx, who.user_id)
        await sessions.end_links(tx, who.user_id)
        await _tell(tx, who.actor, "session.revoke_all", ended=ended)
    return ended


async def change_password(door: Door, who: SignedIn, present: str, wanted: str) -> None:
    """Give oneself a password; every other browser is signed out.

    The present one is asked for where there is one. Raises BadPasswordError,
    WrongOwnPasswordError, NotSignedInError, TooManyTriesError, TooBusyError.
    """
    require_good(wanted, who.email)
    async with door.db.transaction() as tx:
        kept = await users.credentials_of(tx, who.email)
    if kept is not None:
        tried_from = f"session {who.session_id}"
        if not await _try_password(door, (who.email, tried_from), kept, present):
            raise WrongOwnPasswordError
    made = await door.passwords.hash_of(wanted)
    async with door.db.transaction() as tx:
        if not await users.hold_user(tx, who.user_id, kept.password_hash if kept else None):
            raise WrongOwnPasswordError
        if await sessions.alive(tx, who.session_id) is None:  # it ended while we hashed
            raise NotSignedInError
        await users.set_password(tx, who.user_id, made)
        await sessions.end_links(tx, who.user_id)
        ended = await sessions.revoke_sessions(tx, who.user_id, but=who.session_id)
        await _tell(tx, who.actor, "user.set_password", ended=ended)


async def make_link(tx: Tx, user_id: UserId, lives: timedelta) -> str:
    """Make a link's secret, which exists in the answer and nowhere else; the caller tells."""
    secret = new_secret()
    await sessions.add_link(tx, user_id, hash_of(secret), lives)
    return secret


async def _whom(tx: Tx, link: str) -> LinkFor:
    found = await sessions.link_for(tx, hash_of(link))
    if found is None:
        raise UsedLinkError
    return found


async def _renewed(door: Door, kept: Credentials, password: str) -> str | None:
    """Return the password's hash at today's costs, if the kept one has others."""
    if not door.passwords.is_outdated(kept.password_hash):
        return None
    return await door.passwords.hash_of(password)


async def _try_password(
    door: Door, tried: tuple[str, str], kept: Credentials | None, password: str
) -> bool:
    """Return whether it is right; a wrong one is one of the tries that account and address have."""
    door.throttle.take(*tried, door.clock.monotonic())
    counts = False
    try:
        is_right = await door.passwords.is_right(kept.password_hash if kept else None, password)
        counts = not is_right
    finally:
        if not counts:  # right, or never looked at
            door.throttle.give_back(*tried, door.clock.monotonic())
    return is_right


async def _begin(tx: Tx, door: Door, user_id: UserId, browser: Browser) -> str:
    """Begin a session with a secret of its own, in place of the browser's old one."""
    if browser.secret is not None:
        await sessions.revoke_by_secret(tx, hash_of(browser.secret))
    secret, agent = new_secret(), browser.user_agent[:MAX_USER_AGENT]
    await sessions.add_session(tx, NewSession(user_id, hash_of(secret), agent, door.life))
    return secret


async def _tell(tx: Tx, actor: str, action: str, **detail: object) -> None:
    await audit.record(tx, audit.Event(actor, action, detail=detail))
