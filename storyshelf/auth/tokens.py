"""Project tokens: how one is made, recognised and hashed."""

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from storyshelf.auth.permissions import SCOPE_MAY, Action, Scope
from storyshelf.errors import BadInputError, StoryshelfError
from storyshelf.ids import ProjectId, TokenId

PREFIX = "ssp_"
SECRET_BYTES = 32
HINT_LENGTH = 8  # of the shown token: enough to tell two apart, useless to guess the rest
MAX_NAME = 100
ALL_SCOPES = frozenset(Scope)
SHAPE = re.compile(r"ssp_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token at the only moment its text exists here."""

    text: str
    hint: str
    secret_hash: bytes


@dataclass(frozen=True, slots=True)
class KeptToken:
    """What is known of a token after that moment."""

    id: TokenId
    name: str
    hint: str
    scopes: frozenset[Scope]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a token speaks for."""

    token_id: TokenId
    token_name: str
    project_id: ProjectId
    project_slug: str
    scopes: frozenset[Scope]

    @property
    def actor(self) -> str:
        """Return the caller's name for decisions and the audit."""
        return f"token {self.token_name}"

    def may(self, action: Action, project_id: ProjectId | None) -> bool:
        """Tell whether one of the token's scopes allows the action in its own project."""
        allowed = any(action in SCOPE_MAY[scope] for scope in self.scopes)
        return allowed and project_id == self.project_id


class BadTokenNameError(BadInputError):
    """A name that says nothing of what a token is for."""

    def __init__(self) -> None:
        super().__init__(
            f"A token's name has 1 to {MAX_NAME} characters, all of them visible",
            next_step="Name it after what uses it, such as ci; decisions are signed with it.",
        )


class UnknownTokenError(StoryshelfError):
    """No token, a malformed one, or one that is not valid (any more)."""

    http_status = 401

    def __init__(self, problem: str) -> None:
        super().__init__(
            problem,
            next_step=(
                "Pass a project token in STORYSHELF_PROJECT_TOKEN; "
                "make one with `storyshelf project token SLUG`."
            ),
        )


def mint(secret: bytes) -> NewToken:
    """Make a token from 32 bytes of the system's randomness."""
    assert len(secret) == SECRET_BYTES, "a token carries 256 bits"
    text = PREFIX + urlsafe_b64encode(secret).rstrip(b"=").decode()
    return NewToken(text=text, hint=text[: len(PREFIX) + HINT_LENGTH], secret_hash=hash_of(text))


def parse_token_name(text: str) -> str:
    """Return a token's name as it is, or refuse it."""
    if not (text.strip() and len(text) <= MAX_NAME and text.isprintable()):
        raise BadTokenNameError
    return text


def hash_of(text: str) -> bytes:
    """Return what is stored of a token."""
    return sha256(text.encode()).digest()


def parse_bearer(header: str | None) -> bytes:
    """Return the stored hash of the token in an Authorization header."""
    if not header:
        raise UnknownTokenError("No project token was sent")
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer" or not SHAPE.fullmatch(text.strip()):
        raise UnknownTokenError("What was sent is not a project token")
    return hash_of(text.strip())


def parse_scopes(stored: Iterable[str]) -> frozenset[Scope]:
    """Return the scopes that this version knows; a token never gains by a word it does not."""
    return frozenset(Scope(word) for word in stored if word in Scope.__members__.values())
