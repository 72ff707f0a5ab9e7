"""What `storyshelf up` leaves for the next `storyshelf DIR`: a project with a saved token."""

import json
from dataclasses import dataclass
from pathlib import Path

from storyshelf.auth import store as auth
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import UnknownTokenError, parse_bearer
from storyshelf.cli.making import make_project, make_token
from storyshelf.client.saved import FILE_NAME, BadSavedFileError, read_saved
from storyshelf.db.cluster import write_private
from storyshelf.db.engine import Database, Tx
from storyshelf.projects import store
from storyshelf.projects.project import NoSuchProjectError, Project, parse_slug

USUAL_SLUG = "storybook"
DEFAULT_BRANCH = "main"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where the server is, what the project is to be called, and where to save it."""

    data_dir: Path
    url: str
    slug: str | None  # none: whichever the saved token is for, else the usual one


async def ensure_saved(db: Database, wanted: Wanted) -> str:
    """Return the slug of the project that the saved token is good for, making what is missing."""
    async with db.transaction() as tx:
        token = _saved_token(wanted.data_dir)
        slug = None if token is None else await _slug_of(tx, token)
        if token is None or slug is None or wanted.slug not in {None, slug}:
            project = await _found_or_made(tx, wanted.slug or USUAL_SLUG)
            token, slug = (await make_token(tx, project, TokenUse("up"))).text, project.slug
    document = {"url": wanted.url, "project": slug, "token": token}
    write_private(wanted.data_dir / FILE_NAME, json.dumps(document, indent=1))
    return slug


async def _found_or_made(tx: Tx, slug: str) -> Project:
    try:
        return await store.by_slug(tx, parse_slug(slug))
    except NoSuchProjectError:
        return await make_project(tx, slug, None, DEFAULT_BRANCH)


async def _slug_of(tx: Tx, token: str) -> str | None:
    """Return whose token it is on this database; it may be of one that was thrown away."""
    try:
        return (await auth.caller_of(tx, parse_bearer(f"Bearer {token}"))).project_slug
    except UnknownTokenError:
        return None


def _saved_token(data_dir: Path) -> str | None:
    try:
        saved = read_saved(data_dir)
    except BadSavedFileError:
        return None  # it is written anew
    return saved.token if saved else None
