"""Who is what in a project, changed so that it is not left without an admin by accident."""

from storyshelf.auth import user_store as store
from storyshelf.auth import users
from storyshelf.auth.permissions import Action, Role, Who
from storyshelf.auth.user_store import User
from storyshelf.db.engine import Tx
from storyshelf.errors import ConflictError
from storyshelf.projects.project import Project


class LastProjectAdminError(ConflictError):
    """Nobody of the project would be left to manage it."""

    def __init__(self, email: str, slug: str) -> None:
        super().__init__(
            f"{email} is the last admin of the project",
            where=slug,
            next_step="Make somebody else an admin first.",
        )


async def set_member(tx: Tx, project: Project, user: User, role: Role, who: Who) -> None:
    """Make somebody a member, or change what they are; raises LastProjectAdminError."""
    if role is await store.role_in(tx, project.id, user.id):
        return
    if role is not Role.ADMIN:
        await _require_another_admin(tx, project, user, who)
    await users.set_role(tx, who.actor, project.id, user, role)


async def remove_member(tx: Tx, project: Project, user: User, who: Who) -> None:
    """Have somebody be no member any more; raises LastProjectAdminError."""
    await _require_another_admin(tx, project, user, who)
    await users.end_role(tx, who.actor, project.id, user)


async def _require_another_admin(tx: Tx, project: Project, user: User, who: Who) -> None:
    """Go on if another admin is left, or a server administrator wants it, who needs none.

    Two admins who remove each other at the same time wait for each other here.
    """
    admins = await store.hold_admins_of(tx, project.id)
    if list(admins) == [user.id] and not who.may(Action.OPERATE, None):
        raise LastProjectAdminError(user.email, project.slug)
