"""A person with a browser that is signed in."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.auth.permissions import ROLE_MAY, Action, Role
from storyshelf.errors import StoryshelfError
from storyshelf.ids import ProjectId, SessionId, UserId


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Whom a session speaks for, with the roles as they were when the request began."""

    session_id: SessionId
    user_id: UserId
    email: str
    name: str
    is_admin: bool
    roles: Mapping[ProjectId, Role]

    @property
    def actor(self) -> str:
        """Return the person's name for decisions and the audit."""
        return self.email

    def may(self, action: Action, project_id: ProjectId | None) -> bool:
        """Tell whether the person's role allows it; a server administrator may do everything."""
        if self.is_admin:
            return True
        role = None if project_id is None else self.roles.get(project_id)
        return role is not None and action in ROLE_MAY[role]


class NotSignedInError(StoryshelfError):
    """No session, or one that is over."""

    http_status = 401

    def __init__(self) -> None:
        super().__init__("You are not signed in", next_step="Sign in, and open the page again.")
