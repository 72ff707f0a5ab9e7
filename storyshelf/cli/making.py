"""How a project and its tokens come to be from the command line, here and in `storyshelf up`."""

from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import NewToken
from storyshelf.db.engine import Tx
from storyshelf.projects import make
from storyshelf.projects.make import NewProject
from storyshelf.projects.project import Project

ACTOR = "command line"


async def make_project(tx: Tx, slug: str, name: str | None, default_branch: str) -> Project:
    """Make a project; raises what `projects.make` does."""
    return await make.make_project(tx, NewProject(slug, name or "", default_branch), ACTOR)


async def make_token(tx: Tx, project: Project, use: TokenUse, actor: str = ACTOR) -> NewToken:
    """Make a token of the project; its text exists in the answer and nowhere else."""
    return await make.make_token(tx, project, use, actor)
