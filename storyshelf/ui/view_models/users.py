"""The users of the server, and a sign-in link at the only time it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from storyshelf.auth.signed_in import SignedIn
from storyshelf.auth.user_store import User
from storyshelf.ui.signs import Sign
from storyshelf.ui.view_models.forms import Field, Notice
from storyshelf.ui.view_models.frame import Tab
from storyshelf.ui.view_models.operations import Section, tabs
from storyshelf.ui.words import When, when
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class UserLine:
    """One user in the list."""

    email: str
    name: str
    sign: Sign
    is_admin: bool
    is_visitor: bool
    is_disabled: bool
    since: When
    link: str


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link that signs somebody in once."""

    email: str
    link: str
    hours: int


@dataclass(frozen=True, slots=True)
class UsersPage:
    """Everybody who signs in here."""

    title: str
    tabs: Sequence[Tab]
    link: str
    email: Field
    name: Field
    is_admin: Field
    shown: ShownLink | None
    notice: Notice | None
    users: Sequence[UserLine]
    next_link: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """Who is to be added, as it was typed, and what is wrong with it."""

    email: str = ""
    name: str = ""
    is_admin: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """What came of what was sent: a link, or words."""

    shown: ShownLink | None = None
    notice: Notice | None = None


def users_page(
    who: SignedIn,
    found: tuple[Sequence[User], str | None],
    wish: Wish,
    said: Said,
    now: datetime,
) -> UsersPage:
    """Return what the page says; `found` are a page of users and where the list goes on."""
    link = f"{Links().operations}/users"
    users, after = found
    problems = wish.problems
    return UsersPage(
        title="Users",
        tabs=tabs(Section.USERS),
        link=link,
        email=Field("email", "Email address", wish.email, error=problems.get("email", "")),
        name=Field(
            *("name", "Name", wish.name),
            hint="For people; without one it is the address up to its @.",
            error=problems.get("name", ""),
        ),
        is_admin=Field(
            "is_admin", "Administers the server: every project, users, jobs", wish.is_admin
        ),
        shown=said.shown,
        notice=said.notice,
        users=[_line(user, link, who, now) for user in users],
        next_link=with_query(link, {"after": after}) if after else None,
    )


def _line(user: User, link: str, who: SignedIn, now: datetime) -> UserLine:
    return UserLine(
        email=user.email,
        name=user.name,
        sign=_sign(user),
        is_admin=user.is_admin,
        is_visitor=user.id == who.user_id,
        is_disabled=user.disabled_at is not None,
        since=when(user.created_at, now),
        link=f"{link}/{user.id}",
    )


def _sign(user: User) -> Sign:
    if user.disabled_at is not None:
        return Sign("disabled", "quiet")
    return Sign("has a password", "good") if user.has_password else Sign("by link only", "wait")
