"""`storyshelf project delete` and `storyshelf build delete`: on the database itself."""

import asyncio
from typing import Annotated

import typer

from storyshelf.builds import store as builds
from storyshelf.cli.database import opened_database
from storyshelf.cli.making import ACTOR
from storyshelf.db.engine import Database
from storyshelf.operations.delete_build import Deletion
from storyshelf.operations.delete_build import delete_build as delete_that_build
from storyshelf.operations.delete_project import delete_project as delete_that_project
from storyshelf.operations.kinds import every_kind
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.queue.job_kind import JobKinds
from storyshelf.settings import read_settings

YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
SlugArgument = Annotated[str, typer.Argument(metavar="SLUG", help="The project's name in links.")]
NumberArgument = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, help="The build's number in its project.")
]

app = typer.Typer(
    name="build",
    no_args_is_help=True,
    help="Delete builds.",
    pretty_exceptions_enable=False,
)


@app.callback()
def describe() -> None:
    """Delete builds. Uploading, waiting and deciding are commands of their own."""


@app.command("delete")
def delete_build(slug: SlugArgument, number: NumberArgument, *, yes: YesOption = False) -> None:
    """Delete a build that no other one is compared with; its running work is ended first."""
    if not yes:
        typer.confirm(f"Delete build {number} of project {slug} for good?", abort=True)
    asyncio.run(_delete_build(slug, number))
    print(f"Build {number} of project {slug} is deleted.")


def delete_project(slug: SlugArgument, *, yes: YesOption = False) -> None:
    """Delete a project with all its builds, tokens, members and connections."""
    if not yes:
        typer.confirm(f"Delete project {slug} with everything of it for good?", abort=True)
    asyncio.run(_delete_project(slug))
    print(f"Project {slug} is deleted.")


async def _delete_build(slug: str, number: int) -> None:
    async with opened_database(read_settings()) as db:
        project = await _project(db, slug)
        async with db.transaction() as tx:
            build = await builds.by_number(tx, project, number)
        await delete_that_build(db, _kinds(), build, Deletion(ACTOR, "deleted by hand"))


async def _delete_project(slug: str) -> None:
    async with opened_database(read_settings()) as db:
        await delete_that_project(db, _kinds(), await _project(db, slug), ACTOR)


async def _project(db: Database, slug: str) -> Project:
    async with db.transaction() as tx:
        return await projects.by_slug(tx, slug)


def _kinds() -> JobKinds:
    return JobKinds(every_kind())
