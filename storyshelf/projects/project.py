"""A project, and the rules for its names."""

import re
from dataclasses import dataclass
from datetime import datetime

from storyshelf.errors import BadInputError, ConflictError, NotFoundError
from storyshelf.ids import ProjectId
from storyshelf.projects.options import ProjectOptions

SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # it becomes a host name's label
MAX_NAME = 100
MAX_BRANCH = 255


@dataclass(frozen=True, slots=True)
class Project:
    """One Storybook under review."""

    id: ProjectId
    slug: str
    name: str
    default_branch: str
    options: ProjectOptions
    created_at: datetime


class BadSlugError(BadInputError):
    """A slug that cannot be part of a link or a host name."""

    def __init__(self, slug: str) -> None:
        super().__init__(
            f"{slug!r} cannot be a project's slug",
            next_step="Use 1 to 63 lower-case letters, digits and inner hyphens.",
        )


class BadNameError(BadInputError):
    """A name that people could not read in a list."""

    def __init__(self) -> None:
        super().__init__(
            f"A project's name has 1 to {MAX_NAME} characters, all of them visible",
            next_step="Choose a shorter name, in one line.",
        )


class BadBranchError(BadInputError):
    """What no branch can be called."""

    def __init__(self) -> None:
        super().__init__(
            f"A branch's name has 1 to {MAX_BRANCH} characters and no spaces",
            next_step="Write it as `git branch` does, such as main.",
        )


class SlugTakenError(ConflictError):
    """Another project has the slug."""

    def __init__(self, slug: str) -> None:
        super().__init__(
            "A project of this slug exists already",
            where=slug,
            next_step="Choose another slug, or use the project that is there.",
        )


class NoSuchProjectError(NotFoundError):
    """No project of that slug, or not the caller's."""

    def __init__(
        self, slug: str, next_step: str = "Check the slug; the first page lists all projects."
    ) -> None:
        super().__init__("There is no such project", where=slug, next_step=next_step)


def parse_slug(text: str) -> str:
    """Return the slug as it is, or refuse it."""
    if not SLUG.fullmatch(text):
        raise BadSlugError(text)
    return text


def parse_name(text: str) -> str:
    """Return a project's name without the spaces around it, or refuse it."""
    name = text.strip()
    if not (1 <= len(name) <= MAX_NAME and name.isprintable()):
        raise BadNameError
    return name


def parse_branch(text: str) -> str:
    """Return a branch's name without the spaces around it, or refuse it."""
    branch = text.strip()
    if not (1 <= len(branch) <= MAX_BRANCH and branch.isprintable()) or " " in branch:
        raise BadBranchError
    return branch
