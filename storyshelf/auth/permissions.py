"""Who may do what: the one table that routes and use cases ask."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from storyshelf.errors import StoryshelfError
from storyshelf.ids import ProjectId


class Action(StrEnum):
    """What a route or a use case asks permission for."""

    VIEW = "view"  # pages, pictures, the published Storybook
    UPLOAD = "upload"  # open, fill, seal and skip builds
    RUN = "run"  # cancel, capture again, retry and cancel shards
    DECIDE = "decide"  # accept, deny, undo
    MANAGE = "manage"  # settings, tokens, members, connections, deletion
    OPERATE = "operate"  # the whole server: jobs, consumers, users, new projects


class Role(StrEnum):
    """What a member is in a project, the least first."""

    VIEWER = "viewer"
    DEVELOPER = "developer"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a project's token is for."""

    READ = "read"
    UPLOAD = "upload"
    REVIEW = "review"


ROLE_MAY: dict[Role, frozenset[Action]] = {
    Role.VIEWER: frozenset({Action.VIEW}),
    Role.DEVELOPER: frozenset({Action.VIEW, Action.UPLOAD, Action.RUN}),
    Role.REVIEWER: frozenset({Action.VIEW, Action.UPLOAD, Action.RUN, Action.DECIDE}),
    Role.ADMIN: frozenset(
        {Action.VIEW, Action.UPLOAD, Action.RUN, Action.DECIDE, Action.MANAGE},
    ),
}
SCOPE_MAY: dict[Scope, frozenset[Action]] = {
    Scope.READ: frozenset({Action.VIEW}),
    Scope.UPLOAD: frozenset({Action.VIEW, Action.UPLOAD, Action.RUN}),
    Scope.REVIEW: frozenset({Action.VIEW, Action.DECIDE}),
}


class Who(Protocol):
    """Somebody who asks: a person who is signed in, or the bearer of a token."""

    @property
    def actor(self) -> str:
        """Return the name that decisions and the audit carry."""
        ...

    def may(self, action: Action, project_id: ProjectId | None) -> bool:
        """Tell whether the action is allowed in the project; None: on the server as a whole."""
        ...


class ForbiddenError(StoryshelfError):
    """The caller is known and sees the thing, but may not do this with it."""

    http_status = 403

    def __init__(self, who: Who, action: Action, can_help: Sequence[str] = ()) -> None:
        usual = "a server administrator" if action is Action.OPERATE else "an admin of the project"
        super().__init__(
            f"{who.actor} may not {action} here",
            next_step=f"Ask {' or '.join(can_help) or usual} for {_needed(action)}.",
        )


def require(who: Who, action: Action, project_id: ProjectId | None) -> None:
    """Go on if it is allowed; raises ForbiddenError."""
    if not who.may(action, project_id):
        raise ForbiddenError(who, action)


def _needed(action: Action) -> str:
    """Return the least role, and the scope of a token, that allow it."""
    role = next((role for role in Role if action in ROLE_MAY[role]), None)
    if role is None:
        return "the rights of a server administrator"
    scopes = [f"`{scope}`" for scope in Scope if action in SCOPE_MAY[scope]]
    token = f", or a token with scope {' or '.join(scopes)}" if scopes else ""
    return f"the role {role}{token}"
