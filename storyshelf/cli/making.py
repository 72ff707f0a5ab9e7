"""How a project and its tokens come to be from the command line, here and in `storyshelf up`."""

import secrets
from datetime import timedelta

from storyshelf.audit import store as audit
from storyshelf.auth import store as auth
from storyshelf.auth.tokens import SECRET_BYTES, NewToken, mint
from storyshelf.db.engine import Tx
from storyshelf.projects import store
from storyshelf.projects.project import Project, parse_slug

ACTOR = "command line"


async def make_project(tx: Tx, slug: str, name: str | None, default_branch: str) -> Project:
    """Make a project; raises BadSlugError, SlugTakenError."""
    project = await store.add(tx, parse_slug(slug), name or slug, default_branch)
    await audit.record(tx, audit.Event(ACTOR, "project.create", project.id))
    return project


async def make_token(
    tx: Tx, project: Project, name: str, lives: timedelta | None = None
) -> NewToken:
    """Make a token of the project; its text exists in the answer and nowhere else."""
    token = mint(secrets.token_bytes(SECRET_BYTES))
    await auth.add_token(tx, project.id, name, token, lives)
    detail = {"name": name, "hint": token.hint}
    await audit.record(tx, audit.Event(ACTOR, "token.create", project.id, detail=detail))
    return token
