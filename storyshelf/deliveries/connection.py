"""A connection: the forge, or the webhook, that a project's verdicts are delivered to."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from storyshelf.errors import BadInputError, NotFoundError
from storyshelf.ids import ConnectionId, ProjectId

MAX_URL = 2_000
MAX_SECRET = 1_000
MAX_REPOSITORY = 500
GITHUB = "https://api.github.com"
GITLAB = "https://gitlab.com/api/v4"
ADDRESS = "Write https://host/path."
PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
GITHUB_REPOSITORY = re.compile(f"{PART}/{PART}")
GITLAB_REPOSITORY = re.compile(f"{PART}(/{PART})+")  # groups may lie in groups


class ConnectionKind(StrEnum):
    """What is at the other end."""

    GITHUB = "github"
    GITLAB = "gitlab"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class Forge:
    """A repository on GitHub or GitLab, and what is said there of each build."""

    api_url: str
    repository: str
    marker: str  # finds our comment again; nobody can know it before our first one
    comments: bool = True
    names_project: bool = False  # in the contexts, where several projects share a repository
    checks_storybook: bool = False  # a second context: that the Storybook can be browsed


@dataclass(frozen=True, slots=True)
class Hook:
    """An address that takes a signed JSON for each state of a build."""

    url: str


Config = Forge | Hook


@dataclass(frozen=True, slots=True)
class Connection:
    """Where verdicts go; `secret` is sealed: a forge's token, or the key of a hook's signature."""

    id: ConnectionId
    project_id: ProjectId
    kind: ConnectionKind
    name: str
    config: Config
    secret: bytes
    disabled_at: datetime | None
    resting_until: datetime | None  # the forge asked to be left alone until then

    @property
    def mute(self) -> str | None:
        """Return why nothing may be said now; None: it may."""
        if self.disabled_at is None:
            return None
        return "The connection is disabled. Enable it in the project's settings."


@dataclass(frozen=True, slots=True)
class NewConnection:
    """A connection as it is asked for, its fields checked; the secret is still open."""

    kind: ConnectionKind
    name: str
    config: Config
    secret: str


class BadConnectionError(BadInputError):
    """A field of a connection that cannot be used."""

    def __init__(self, field: str, problem: str, next_step: str) -> None:
        super().__init__(f"The {field} cannot be used: {problem}", where=field, next_step=next_step)
        self.field = field


class NoSuchConnectionError(NotFoundError):
    """The project has no connection of that number."""

    def __init__(self, connection_id: int) -> None:
        super().__init__(
            "There is no such connection",
            where=f"connection {connection_id}",
            next_step="The project's settings list its connections.",
        )


def forge_config(
    kind: ConnectionKind, repository: str, api_url: str, marker: str, **wanted: bool
) -> Forge:
    """Check what was typed of a repository; raises BadConnectionError."""
    named = repository.strip().strip("/")
    pattern = GITHUB_REPOSITORY if kind is ConnectionKind.GITHUB else GITLAB_REPOSITORY
    parts = named.split("/")
    if len(named) > MAX_REPOSITORY or not pattern.fullmatch(named) or {".", ".."} & set(parts):
        form = "owner/name" if kind is ConnectionKind.GITHUB else "group/name"
        raise BadConnectionError("repository", f"{named!r} is no repository", f"Write {form}.")
    return Forge(_api_url(kind, api_url), named, marker, **wanted)


def hook_config(url: str) -> Hook:
    """Check the address of a webhook; raises BadConnectionError."""
    return Hook(_checked_url("url", url))


def checked_secret(field: str, secret: str) -> str:
    """Check a token or a key; raises BadConnectionError."""
    found = secret.strip()
    if not found:
        raise BadConnectionError(field, "it is empty", "Paste it; it is kept sealed.")
    if len(found) > MAX_SECRET or not found.isascii() or not found.isprintable():
        raise BadConnectionError(field, "it is not one line of plain characters", "Paste it again.")
    return found


def to_json(config: Config) -> dict[str, Any]:
    """Return the configuration as it is stored."""
    return asdict(config)


def from_json(kind: ConnectionKind, stored: Mapping[str, Any]) -> Config:
    """Read a stored configuration."""
    return Hook(**stored) if kind is ConnectionKind.WEBHOOK else Forge(**stored)


def _api_url(kind: ConnectionKind, given: str) -> str:
    """Complete the address of a server of one's own, of which people know the host."""
    if not given.strip():
        return GITHUB if kind is ConnectionKind.GITHUB else GITLAB
    url = _checked_url("api_url", given).rstrip("/")
    if urlsplit(url).path or url == GITHUB:
        return url
    return f"{url}/api/v3" if kind is ConnectionKind.GITHUB else f"{url}/api/v4"


def _checked_url(field: str, given: str) -> str:
    url = given.strip()
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadConnectionError(field, "it is no address", ADDRESS)
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise BadConnectionError(field, "it is no address", ADDRESS) from None
    if not is_usable:
        raise BadConnectionError(field, "it is no address", ADDRESS)
    if "@" in parts.netloc or parts.fragment:
        raise BadConnectionError(field, "it holds a name or a fragment", "Leave that out.")
    return url
