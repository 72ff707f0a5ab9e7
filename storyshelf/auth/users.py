"""How users come and go: the use cases of whoever administers the server, or a project's members.

Each is done in the caller's transaction together with its audit event, so that what is on the
pages and on the command line is the same.
"""

from dataclasses import dataclass
from datetime import timedelta

from storyshelf.audit import store as audit
from storyshelf.auth import session_store as sessions
from storyshelf.auth import user_store as store
from storyshelf.auth.permissions import Role
from storyshelf.auth.sign_in import make_link
from storyshelf.auth.user_store import User
from storyshelf.db.engine import Tx
from storyshelf.errors import BadInputError, ConflictError
from storyshelf.ids import ProjectId, UserId

MAX_EMAIL = 320
MAX_NAME = 200
LINK_LIVES = timedelta(hours=24)
FIRST_EMAIL = "admin@localhost"
FIRST_NAME = "Administrator"


class BadEmailError(BadInputError):
    """It is no address that a user can have."""

    def __init__(self, text: str) -> None:
        super().__init__(
            "That is not an email address",
            where=text[:100],
            next_step="Give one such as ada@example.com.",
        )


class BadNameError(BadInputError):
    """It is no name that can be shown."""

    def __init__(self) -> None:
        super().__init__(
            f"A name has 1 to {MAX_NAME} characters, in one line", next_step="Give another."
        )


class EmailTakenError(ConflictError):
    """Somebody has that address already."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"There is a user {email} already",
            next_step=f"`storyshelf user reset {email}` makes a sign-in link.",
        )


class LastAdminError(ConflictError):
    """Nobody would be left to administer the server."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} is the last server administrator",
            next_step="Make another one first: `storyshelf user add EMAIL --admin`.",
        )


class DisabledUserError(ConflictError):
    """A link would not let them in."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} is disabled", next_step=f"First `storyshelf user enable {email}`."
        )


@dataclass(frozen=True, slots=True)
class NewUser:
    """Who is to be made."""

    email: str
    name: str
    is_admin: bool = False


def parse_user(email: str, name: str | None = None, *, is_admin: bool = False) -> NewUser:
    """Return who is meant; without a name, the address up to its @.

    Raises BadEmailError, BadNameError.
    """
    address = email.strip().lower()
    before, at, host = address.rpartition("@")
    is_one_word = address.isprintable() and not any(map(str.isspace, address))
    if not (before and at and host and is_one_word) or len(address) > MAX_EMAIL:
        raise BadEmailError(email)
    shown = (name or "").strip() or before[:MAX_NAME]
    if len(shown) > MAX_NAME or not shown.isprintable():
        raise BadNameError
    return NewUser(address, shown, is_admin)


async def add(tx: Tx, actor: str, wanted: NewUser) -> User:
    """Make a user, who signs in once by `link` or has a password set; raises EmailTakenError."""
    user_id = await store.add_user(tx, wanted.email, wanted.name, is_admin=wanted.is_admin)
    if user_id is None:
        raise EmailTakenError(wanted.email)
    await _tell(tx, actor, "user.add", wanted.email, is_admin=wanted.is_admin)
    return await store.user_by_id(tx, user_id)


async def add_first(tx: Tx, actor: str) -> None:
    """Make the first server administrator where there is no user at all."""
    if await store.is_empty(tx):
        wanted = NewUser(FIRST_EMAIL, FIRST_NAME, is_admin=True)
        if await store.add_user(tx, wanted.email, wanted.name, is_admin=True) is not None:
            await _tell(tx, actor, "user.add", wanted.email, is_admin=True)


async def link(tx: Tx, actor: str, user: User, lives: timedelta = LINK_LIVES) -> str:
    """Return the secret of a link that signs the user in once; raises DisabledUserError."""
    _require_enabled(user)
    secret = await make_link(tx, user.id, lives)
    await _tell(tx, actor, "user.link", user.email, hours=lives.total_seconds() / 3600)
    return secret


async def set_password(tx: Tx, actor: str, user: User, password_hash: str) -> None:
    """Set a user's password for them; whoever is signed in as them no longer is."""
    await store.set_password(tx, user.id, password_hash)
    await _sign_out(tx, user.id)
    await _tell(tx, actor, "user.set_password", user.email)


async def reset(tx: Tx, actor: str, user: User) -> str:
    """End a user's password, sessions and links; return the secret of a link that begins anew.

    Raises DisabledUserError.
    """
    _require_enabled(user)
    await store.set_password(tx, user.id, None)
    await _sign_out(tx, user.id)
    await _tell(tx, actor, "user.reset", user.email)
    return await make_link(tx, user.id, LINK_LIVES)


async def disable(tx: Tx, actor: str, user: User) -> None:
    """Keep a user out, from the next request on; raises LastAdminError."""
    await _require_another_admin(tx, user)
    if await store.disable(tx, user.id):
        await _sign_out(tx, user.id)
        await _tell(tx, actor, "user.disable", user.email)


async def enable(tx: Tx, actor: str, user: User) -> None:
    """Let a user in again, with the password they had."""
    if user.disabled_at is not None:
        await store.enable(tx, user.id)
        await _tell(tx, actor, "user.enable", user.email)


async def make_admin(tx: Tx, actor: str, user: User) -> None:
    """Make a user a server administrator."""
    if not user.is_admin:
        await store.set_admin(tx, user.id, is_admin=True)
        await _tell(tx, actor, "user.make_admin", user.email)


async def end_admin(tx: Tx, actor: str, user: User) -> None:
    """Have a user be no server administrator any more; raises LastAdminError."""
    await _require_another_admin(tx, user)
    if user.is_admin:
        await store.set_admin(tx, user.id, is_admin=False)
        await _tell(tx, actor, "user.end_admin", user.email)


async def set_role(tx: Tx, actor: str, project_id: ProjectId, user: User, role: Role) -> None:
    """Make a user a member of a project, or change what they are there."""
    await store.set_role(tx, project_id, user.id, role)
    detail = {"user": user.email, "role": role}
    await audit.record(tx, audit.Event(actor, "member.set", project_id, detail=detail))


async def end_role(tx: Tx, actor: str, project_id: ProjectId, user: User) -> None:
    """Have a user be no member of a project any more."""
    if await store.remove_member(tx, project_id, user.id):
        detail = {"user": user.email}
        await audit.record(tx, audit.Event(actor, "member.remove", project_id, detail=detail))


def _require_enabled(user: User) -> None:
    if user.disabled_at is not None:
        raise DisabledUserError(user.email)


async def _sign_out(tx: Tx, user_id: UserId) -> None:
    await sessions.revoke_sessions(tx, user_id)
    await sessions.end_links(tx, user_id)


async def _require_another_admin(tx: Tx, user: User) -> None:
    """Go on if another enabled one is left; two who end each other at once wait for each other."""
    if user.is_admin and user.disabled_at is None:
        others = set(await store.hold_admins(tx)) - {user.id}
        if not others:
            raise LastAdminError(user.email)


async def _tell(tx: Tx, actor: str, action: str, email: str, **more: object) -> None:
    await audit.record(tx, audit.Event(actor, action, detail={"user": email, **more}))
