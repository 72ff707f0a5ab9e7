"""What a connection is to say of a build: one wish for each of its subjects.

A subject is one thing at the other end that has one state: a commit's context, a pull request's
comment, a build as a webhook's receiver knows it. A wish is level-triggered: it says how the
subject should stand, not what happened.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from storyshelf.deliveries.message import Check


@dataclass(frozen=True, slots=True)
class StatusWish:
    """A context on a commit; `path` is where its link leads on the server."""

    commit: str
    context: str
    check: Check
    description: str
    path: str

    @property
    def subject(self) -> str:
        """Return the name of what this is about."""
        return f"status {self.commit} {self.context}"


@dataclass(frozen=True, slots=True)
class CommentWish:
    """The comment of a pull request."""

    pull_request: int
    check: Check
    headline: str
    project_name: str
    number: int
    branch: str
    commit: str
    path: str
    storybook_path: str | None
    numbers: Sequence[tuple[str, int]]

    @property
    def subject(self) -> str:
        """Return the name of what this is about."""
        return f"comment {self.pull_request}"


@dataclass(frozen=True, slots=True)
class HookWish:
    """A build, as a webhook tells of it."""

    number: int
    path: str
    storybook_path: str | None
    build: Mapping[str, Any]
    project: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """Return the name of what this is about."""
        return f"build {self.number}"


Wish = StatusWish | CommentWish | HookWish
FORMS: Mapping[str, Callable[..., Wish]] = {
    "status": StatusWish,
    "comment": CommentWish,
    "build": HookWish,
}


def to_json(wish: Wish) -> dict[str, Any]:
    """Return the wish as it is stored."""
    return {"form": wish.subject.partition(" ")[0], **asdict(wish)}


def from_json(stored: Mapping[str, Any]) -> Wish:
    """Read a stored wish."""
    values = dict(stored)
    form = FORMS[values.pop("form")]
    if "check" in values:
        values["check"] = Check(values["check"])
    if "numbers" in values:
        values["numbers"] = tuple((name, count) for name, count in values["numbers"])
    return form(**values)
