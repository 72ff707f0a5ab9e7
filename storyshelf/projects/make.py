"""How projects and their tokens come to be, each with its audit event."""

import secrets
from dataclasses import dataclass

from storyshelf.audit import store as audit
from storyshelf.auth import store as tokens
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import SECRET_BYTES, NewToken, mint, parse_token_name
from storyshelf.db.engine import Tx
from storyshelf.ids import TokenId
from storyshelf.projects import store
from storyshelf.projects.project import Project, parse_branch, parse_name, parse_slug


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a project begins with; without a name it is called by its slug."""

    slug: str
    name: str = ""
    default_branch: str = "main"


async def make_project(tx: Tx, new: NewProject, actor: str) -> Project:
    """Make a project.

    Raises BadSlugError, BadNameError, BadBranchError, SlugTakenError.
    """
    slug, branch = parse_slug(new.slug), parse_branch(new.default_branch)
    project = await store.add(tx, slug, parse_name(new.name or slug), branch)
    await audit.record(tx, audit.Event(actor, "project.create", project.id))
    return project


async def make_token(tx: Tx, project: Project, use: TokenUse, actor: str) -> NewToken:
    """Make a token of the project; its text exists in the answer and nowhere else.

    Raises BadTokenNameError.
    """
    parse_token_name(use.name)
    token = mint(secrets.token_bytes(SECRET_BYTES))
    await tokens.add_token(tx, project.id, use, token)
    detail = {"name": use.name, "hint": token.hint, "scopes": sorted(use.scopes)}
    await audit.record(tx, audit.Event(actor, "token.create", project.id, detail=detail))
    return token


async def end_token(tx: Tx, project: Project, token_id: TokenId, actor: str) -> bool:
    """End a token for good; return whether the project had it and it was not revoked before."""
    ended = await tokens.revoke(tx, project.id, token_id)
    if ended:
        detail = {"token": token_id}
        await audit.record(tx, audit.Event(actor, "token.revoke", project.id, detail=detail))
    return ended
