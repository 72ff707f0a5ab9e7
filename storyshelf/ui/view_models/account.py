"""What the page of one's own account says."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus

from storyshelf.auth.passwords import MAX_LENGTH, MIN_LENGTH
from storyshelf.auth.session_store import KeptSession
from storyshelf.auth.user_store import User
from storyshelf.errors import StoryshelfError
from storyshelf.ids import SessionId
from storyshelf.ui.words import When, when


class Done(StrEnum):
    """What was done just before."""

    PASSWORD = "password"  # noqa: S105  # a word of a link
    SESSION = "session"


DONE_WORDS = {
    Done.PASSWORD: "The password is set. Every other browser is signed out.",
    Done.SESSION: "That browser is signed out.",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What came of what was asked before."""

    done: Done | None = None
    refused: StoryshelfError | None = None

    @property
    def status(self) -> int:
        """Return the page's status."""
        return self.refused.http_status if self.refused else HTTPStatus.OK


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A browser that is signed in."""

    agent: str
    is_this: bool
    since: When
    used: When
    until: str
    end_link: str


@dataclass(frozen=True, slots=True)
class AccountPage:
    """Everything of one's own account."""

    title: str
    name: str
    email: str
    is_admin: bool
    has_password: bool
    shortest: int
    longest: int
    done: str
    problem: str
    next_step: str
    sessions: Sequence[SessionLine]


def account_page(
    user: User, kept: Sequence[KeptSession], own: SessionId, said: Said, now: datetime
) -> AccountPage:
    """Put a person's account into words."""
    return AccountPage(
        title="Your account",
        name=user.name,
        email=user.email,
        is_admin=user.is_admin,
        has_password=user.has_password,
        shortest=MIN_LENGTH,
        longest=MAX_LENGTH,
        done=DONE_WORDS[said.done] if said.done else "",
        problem=said.refused.what if said.refused else "",
        next_step=said.refused.next_step if said.refused else "",
        sessions=[_line(session, own, now) for session in kept],
    )


def _line(session: KeptSession, own: SessionId, now: datetime) -> SessionLine:
    return SessionLine(
        agent=agent_words(session.user_agent),
        is_this=session.id == own,
        since=when(session.created_at, now),
        used=when(session.last_used_at, now),
        until=f"{session.expires_at:%d %b %Y}".lstrip("0"),
        end_link=f"/account/sessions/{session.id}/revoke",
    )


BROWSERS = (  # in this order: most of them name those after them too
    *(("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox")),
    *(("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl")),
)
SYSTEMS = (
    *(("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows")),
    *(("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
)


def agent_words(user_agent: str) -> str:
    """Return a browser as its owner would name it; what nobody knows, as it named itself."""
    browser = next((name for sign, name in BROWSERS if sign in user_agent), None)
    system = next((name for sign, name in SYSTEMS if sign in user_agent), None)
    if browser is None:
        return user_agent or "a browser that does not say which it is"
    return f"{browser} on {system}" if system else browser
