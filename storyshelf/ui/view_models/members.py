"""A project's members, and the form that adds one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from storyshelf.auth.permissions import Role
from storyshelf.auth.signed_in import SignedIn
from storyshelf.auth.user_store import Member
from storyshelf.projects.project import Project
from storyshelf.ui.view_models.forms import Field, Notice, Option, choices
from storyshelf.ui.view_models.frame import Frame, Section, settings_frame
from storyshelf.ui.words import When, when
from storyshelf.web.links import with_query

ROLE_WORDS: Mapping[str, str] = {
    Role.VIEWER: "viewer: sees everything",
    Role.DEVELOPER: "developer: also sends, cancels and repeats builds",
    Role.REVIEWER: "reviewer: also accepts and denies",
    Role.ADMIN: "admin: also manages the project",
}


@dataclass(frozen=True, slots=True)
class MemberLine:
    """One member in the list."""

    email: str
    name: str
    is_disabled: bool
    is_visitor: bool
    added: When
    roles: Sequence[Option]
    change_link: str
    remove_link: str


@dataclass(frozen=True, slots=True)
class MembersPage:
    """A project's members."""

    title: str
    frame: Frame
    link: str
    email: Field
    role: Field
    roles: Sequence[Option]
    notice: Notice | None
    members: Sequence[MemberLine]
    next_link: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """Who is to be added as what, as it was typed, and what is wrong with it."""

    email: str = ""
    role: str = Role.REVIEWER
    problems: Mapping[str, str] = field(default_factory=dict)


def members_page(
    named: tuple[Project, SignedIn],
    found: tuple[Sequence[Member], str | None],
    wish: Wish,
    notice: Notice | None,
    now: datetime,
) -> MembersPage:
    """Return what the page says; `found` are a page of members and where the list goes on."""
    project, who = named
    frame = settings_frame(project, who, Section.MEMBERS)
    link = f"{frame.link}/settings/members"
    members, after = found
    return MembersPage(
        title=f"{project.name} · members",
        frame=frame,
        link=link,
        email=Field(
            *("email", "Email address", wish.email),
            hint="Of somebody who is a user of this server.",
            error=wish.problems.get("email", ""),
        ),
        role=Field("role", "Role", error=wish.problems.get("role", "")),
        roles=choices(ROLE_WORDS, wish.role),
        notice=notice,
        members=[_line(member, link, who, now) for member in members],
        next_link=with_query(link, {"after": after}) if after else None,
    )


def _line(member: Member, link: str, who: SignedIn, now: datetime) -> MemberLine:
    own = f"{link}/{member.user_id}"
    return MemberLine(
        email=member.email,
        name=member.name,
        is_disabled=member.is_disabled,
        is_visitor=member.user_id == who.user_id,
        added=when(member.added_at, now),
        roles=choices(Role, member.role),
        change_link=own,
        remove_link=f"{own}/remove",
    )


def how_to_add(email: str, who: SignedIn) -> str:
    """Return what to do about an address that no user has."""
    runs_server = (
        "Operations, Users makes one" if who.is_admin else "A server administrator makes one"
    )
    return f"There is no user {email}. {runs_server}, or `storyshelf user add EMAIL` on the server."
