"""All SQL of people and of their roles in projects."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Tx
from storyshelf.db.tables import MemberRow, UserRow
from storyshelf.errors import NotFoundError
from storyshelf.ids import ProjectId, UserId


@dataclass(frozen=True, slots=True)
class User:
    """A person as others see them."""

    id: UserId
    email: str
    name: str
    is_admin: bool
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Member:
    """A person in a project."""

    user_id: UserId
    email: str
    name: str
    role: Role
    added_at: datetime
    is_disabled: bool


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a sign-in is checked against; a disabled user has none."""

    user_id: UserId
    password_hash: str


class NoSuchUserError(NotFoundError):
    """Nobody has that address."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"There is no user {email}",
            next_step="`storyshelf user list` shows them, `storyshelf user add` makes one.",
        )


async def add_user(tx: Tx, email: str, name: str, *, is_admin: bool = False) -> UserId | None:
    """Make a user without a password; None: somebody has that address already."""
    made = await tx.execute(
        insert(UserRow)
        .values(email=email.lower(), name=name, is_admin=is_admin)
        .on_conflict_do_nothing(index_elements=[UserRow.email])
        .returning(UserRow.id)
    )
    user_id = made.scalar_one_or_none()
    return None if user_id is None else UserId(user_id)


async def user_by_email(tx: Tx, email: str) -> User:
    """Return the user, disabled or not; raises NoSuchUserError."""
    rows = await tx.execute(_users().where(UserRow.email == email.lower()))
    found = rows.one_or_none()
    if found is None:
        raise NoSuchUserError(email)
    return _user(found)


async def user_by_id(tx: Tx, user_id: UserId) -> User:
    """Return the user, disabled or not; raises NoSuchUserError."""
    found = (await tx.execute(_users().where(UserRow.id == user_id))).one_or_none()
    if found is None:
        raise NoSuchUserError(str(user_id))
    return _user(found)


async def users_page(tx: Tx, *, after_email: str, limit: int) -> Sequence[User]:
    """Return users by their address, those after the given one."""
    wanted = _users().where(UserRow.email > after_email).order_by(UserRow.email).limit(limit)
    return [_user(row) for row in await tx.execute(wanted)]


async def is_empty(tx: Tx) -> bool:
    """Tell whether there is no user at all."""
    return (await tx.execute(select(UserRow.id).limit(1))).first() is None


async def somebody_signs_in(tx: Tx) -> bool:
    """Tell whether there is a user who can sign in without a link."""
    can = (UserRow.disabled_at.is_(None), UserRow.password_hash.is_not(None))
    return (await tx.execute(select(UserRow.id).where(*can).limit(1))).first() is not None


async def credentials_of(tx: Tx, email: str) -> Credentials | None:
    """Return what a password of theirs is checked against; None: nobody signs in so."""
    found = (
        await tx.execute(
            select(UserRow.id, UserRow.password_hash).where(
                UserRow.email == email.lower(), UserRow.disabled_at.is_(None)
            )
        )
    ).one_or_none()
    if found is None or found.password_hash is None:
        return None
    return Credentials(UserId(found.id), found.password_hash)


async def hold_user(tx: Tx, user_id: UserId, password_hash: str | None = None) -> bool:
    """Keep a user from being disabled or given another password until the transaction ends.

    Return whether they are enabled, and still have the password if one is given.
    """
    has = [] if password_hash is None else [UserRow.password_hash == password_hash]
    held = await tx.execute(
        select(UserRow.id)
        .where(UserRow.id == user_id, UserRow.disabled_at.is_(None), *has)
        .with_for_update(key_share=True)  # two that hold it one after the other: they write it too
    )
    return held.first() is not None


async def set_password(tx: Tx, user_id: UserId, password_hash: str | None) -> None:
    """Give a user another password, or none."""
    await _set(tx, user_id, password_hash=password_hash)


async def disable(tx: Tx, user_id: UserId) -> bool:
    """Keep a user out; return whether they were enabled. The caller revokes their sessions."""
    done = await tx.execute(
        update(UserRow)
        .where(UserRow.id == user_id, UserRow.disabled_at.is_(None))
        .values(disabled_at=func.now())
    )
    return done.rowcount == 1


async def enable(tx: Tx, user_id: UserId) -> None:
    """Let a user in again."""
    await _set(tx, user_id, disabled_at=None)


async def set_admin(tx: Tx, user_id: UserId, *, is_admin: bool) -> None:
    """Make a user a server administrator, or no longer one."""
    await _set(tx, user_id, is_admin=is_admin)


async def set_role(tx: Tx, project_id: ProjectId, user_id: UserId, role: Role) -> None:
    """Make somebody a member of the project, or change the role."""
    row = insert(MemberRow).values(project_id=project_id, user_id=user_id, role=role)
    await tx.execute(
        row.on_conflict_do_update(
            index_elements=[MemberRow.project_id, MemberRow.user_id],
            set_={"role": row.excluded.role},
        )
    )


async def remove_member(tx: Tx, project_id: ProjectId, user_id: UserId) -> bool:
    """Have somebody be no member of the project; return whether they were one."""
    done = await tx.execute(
        delete(MemberRow).where(MemberRow.project_id == project_id, MemberRow.user_id == user_id)
    )
    return done.rowcount == 1


async def members_of(
    tx: Tx, project_id: ProjectId, *, after_email: str = "", limit: int
) -> Sequence[Member]:
    """Return the project's members by their address, disabled ones included."""
    rows = await tx.execute(
        select(
            *(UserRow.id, UserRow.email, UserRow.name, MemberRow.role),
            *(MemberRow.added_at, UserRow.disabled_at.is_not(None).label("is_disabled")),
        )
        .join(MemberRow, MemberRow.user_id == UserRow.id)
        .where(MemberRow.project_id == project_id, UserRow.email > after_email)
        .order_by(UserRow.email)
        .limit(limit)
    )
    return [
        Member(UserId(row.id), row.email, row.name, Role(row.role), row.added_at, row.is_disabled)
        for row in rows
    ]


async def helpers(tx: Tx, project_id: ProjectId | None, limit: int) -> Sequence[str]:
    """Return the addresses of a few who can grant more: the project's admins, then the server's."""
    runs_project = (
        select(MemberRow.user_id)
        .where(MemberRow.project_id == project_id, MemberRow.role == Role.ADMIN)
        .scalar_subquery()
    )
    found = await tx.execute(
        select(UserRow.email)
        .where(UserRow.disabled_at.is_(None), or_(UserRow.is_admin, UserRow.id.in_(runs_project)))
        .order_by(UserRow.is_admin, UserRow.email)
        .limit(limit)
    )
    return found.scalars().all()


async def hold_admins(tx: Tx) -> Sequence[UserId]:
    """Keep the enabled server administrators from being changed until the transaction ends."""
    found = await tx.execute(
        select(UserRow.id)
        .where(UserRow.is_admin, UserRow.disabled_at.is_(None))
        .order_by(UserRow.id)
        .with_for_update(key_share=True)
    )
    return [UserId(user_id) for user_id in found.scalars()]


async def hold_admins_of(tx: Tx, project_id: ProjectId) -> Sequence[UserId]:
    """Keep the project's enabled admins from being changed until the transaction ends."""
    found = await tx.execute(
        select(MemberRow.user_id)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(
            MemberRow.project_id == project_id,
            MemberRow.role == Role.ADMIN,
            UserRow.disabled_at.is_(None),
        )
        .order_by(MemberRow.user_id)
        .with_for_update(of=MemberRow)
    )
    return [UserId(user_id) for user_id in found.scalars()]


async def member_by_id(tx: Tx, project_id: ProjectId, user_id: UserId) -> User:
    """Return a member of the project; raises NoSuchUserError for whoever is none."""
    is_member = select(MemberRow.user_id).where(
        MemberRow.project_id == project_id, MemberRow.user_id == user_id
    )
    found = (await tx.execute(_users().where(UserRow.id.in_(is_member)))).one_or_none()
    if found is None:
        raise NoSuchUserError(str(user_id))
    return _user(found)


async def role_in(tx: Tx, project_id: ProjectId, user_id: UserId) -> Role | None:
    """Return what somebody is in the project; None: no member."""
    found = await tx.execute(
        select(MemberRow.role).where(
            MemberRow.project_id == project_id, MemberRow.user_id == user_id
        )
    )
    role = found.scalar_one_or_none()
    return None if role is None else Role(role)


async def _set(tx: Tx, user_id: UserId, **values: object) -> None:
    await tx.execute(update(UserRow).where(UserRow.id == user_id).values(**values))


def _users() -> Select[*tuple[Any, ...]]:
    return select(
        *(UserRow.id, UserRow.email, UserRow.name, UserRow.is_admin),
        UserRow.password_hash.is_not(None).label("has_password"),
        *(UserRow.created_at, UserRow.disabled_at),
    )


def _user(row: Row[*tuple[Any, ...]]) -> User:
    return User(UserId(row.id), *row[1:])
