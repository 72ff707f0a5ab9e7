"""A project's tokens: what is known of each, and a new one at the only time it is shown."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Scope, Who
from storyshelf.auth.tokens import KeptToken
from storyshelf.projects.project import Project
from storyshelf.ui.signs import Sign
from storyshelf.ui.view_models.forms import Field, Notice, Option, choices
from storyshelf.ui.view_models.frame import Frame, Section, settings_frame
from storyshelf.ui.words import When, when, when_at_all
from storyshelf.web.links import with_query

SCOPE_WORDS: Mapping[Scope, str] = {
    Scope.READ: "read: see builds and pictures",
    Scope.UPLOAD: "upload: send builds, cancel and repeat them (what CI needs)",
    Scope.REVIEW: "review: accept and deny",
}
EXPIRIES: Mapping[str, str] = {
    "": "never",
    "30": "in 30 days",
    "90": "in 90 days",
    "365": "in a year",
}


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A new token, and how CI is told of it."""

    name: str
    text: str
    server: str


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One token in the list."""

    name: str
    hint: str
    scopes: str
    sign: Sign
    created: When
    used: When | None
    expires: str
    revoke_link: str | None


@dataclass(frozen=True, slots=True)
class TokensPage:
    """A project's tokens, with the form for another."""

    title: str
    frame: Frame
    link: str
    name: Field
    scopes: Sequence[Option]
    scopes_error: str
    expiry: Field
    expiries: Sequence[Option]
    shown: ShownToken | None
    notice: Notice | None
    tokens: Sequence[TokenLine]
    next_link: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """What was typed for a new token, and what is wrong with it."""

    name: str = "ci"
    scopes: Collection[str] = (Scope.UPLOAD,)
    days: str = ""
    problems: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What came of what was sent: a new token, or words."""

    shown: ShownToken | None = None
    notice: Notice | None = None


def tokens_page(
    named: tuple[Project, Who],
    found: tuple[Sequence[KeptToken], str | None],
    wish: Wish,
    said: Said,
    now: datetime,
) -> TokensPage:
    """Return what the page says; `found` are a page of tokens and where the list goes on."""
    project, who = named
    frame = settings_frame(project, who, Section.TOKENS)
    link = f"{frame.link}/settings/tokens"
    problems = wish.problems or {}
    tokens, after = found
    return TokensPage(
        title=f"{project.name} · tokens",
        frame=frame,
        link=link,
        name=Field(
            *("name", "Name", wish.name),
            hint="What uses it; decisions are signed with it.",
            error=problems.get("name", ""),
        ),
        scopes=[Option(scope, SCOPE_WORDS[scope], scope in wish.scopes) for scope in Scope],
        scopes_error=problems.get("scopes", ""),
        expiry=Field("days", "Expires", error=problems.get("days", "")),
        expiries=choices(EXPIRIES, wish.days),
        shown=said.shown,
        notice=said.notice,
        tokens=[_line(token, link, now) for token in tokens],
        next_link=with_query(link, {"after": after}) if after else None,
    )


def _line(token: KeptToken, link: str, now: datetime) -> TokenLine:
    is_over = token.expires_at is not None and token.expires_at <= now
    return TokenLine(
        name=token.name,
        hint=token.hint,
        scopes=", ".join(sorted(token.scopes)),
        sign=_sign(token, is_over=is_over),
        created=when(token.created_at, now),
        used=when_at_all(token.last_used_at, now),
        expires="" if token.expires_at is None else f"{token.expires_at:%d %b %Y}".lstrip("0"),
        revoke_link=None if token.revoked_at else f"{link}/{token.id}/revoke",
    )


def _sign(token: KeptToken, *, is_over: bool) -> Sign:
    if token.revoked_at is not None:
        return Sign("revoked", "quiet")
    return Sign("expired", "quiet") if is_over else Sign("valid", "good")
