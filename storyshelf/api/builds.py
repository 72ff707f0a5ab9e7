"""Builds: listed, shown, cancelled, captured again, decided."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from storyshelf.api.requests import CancelBuild, Decide
from storyshelf.api.schemas import BuildOut, BuildPage, DecidedBuild, OneBuild
from storyshelf.auth.permissions import Action
from storyshelf.builds import store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.capture_again import capture_again
from storyshelf.errors import BadInputError
from storyshelf.ids import SnapshotId
from storyshelf.projects.project import Project
from storyshelf.review import read
from storyshelf.review.decide import Seen, decide, decide_all
from storyshelf.web.caller import CallerFirst, WithBuild, WithCaller, WithParts, WithProject, needs
from storyshelf.web.links import Links
from storyshelf.web.paging import PageQuery, cursor_of, page_of, parse_cursor
from storyshelf.wiring import Parts

router = APIRouter(
    prefix="/projects/{slug}/builds",
    tags=["builds"],
    route_class=CallerFirst,
    dependencies=[needs(Action.VIEW)],
)


class BuildQuery(PageQuery):
    """Which builds to list."""

    branch: str | None = Field(None, max_length=500)
    state: BuildState | None = None


class NothingToDecideError(BadInputError):
    """Neither snapshots nor `all`, or both."""

    def __init__(self) -> None:
        super().__init__(
            "The decision does not say which snapshots it is about",
            next_step="Name them in `snapshots`, or pass `all`, but not both.",
        )


async def build_out(parts: Parts, project: Project, build: Build) -> BuildOut:
    """Return a build with its progress, as every route that touches one answers."""
    async with parts.db.transaction() as tx:
        view = await read.build_view(tx, build)
    return BuildOut.of(view, Links(parts.public_url), project.slug)


@router.get("")
async def list_builds(
    project: WithProject,
    parts: WithParts,
    shown: Annotated[BuildQuery, Query()],
) -> BuildPage:
    """Return the project's builds, the newest first."""
    before = None
    if shown.after is not None:
        (number,) = parse_cursor(shown.after, int)
        before = int(number)
    wanted = store.BuildFilter(shown.branch, shown.state)
    async with parts.db.transaction() as tx:
        found = await store.page(tx, project.id, wanted, before=before, limit=shown.limit + 1)
        here, more = page_of(found, shown.limit, lambda build: cursor_of(build.number))
        views = await read.build_views(tx, here)
    links = Links(parts.public_url)
    return BuildPage(items=[BuildOut.of(view, links, project.slug) for view in views], next=more)


@router.get("/{number}")
async def show_build(project: WithProject, build: WithBuild, parts: WithParts) -> OneBuild:
    """Return one build with its progress."""
    return OneBuild(build=await build_out(parts, project, build))


@router.post("/{number}/cancel", dependencies=[needs(Action.RUN)])
async def cancel(
    project: WithProject,
    build: WithBuild,
    caller: WithCaller,
    parts: WithParts,
    body: CancelBuild | None = None,
) -> OneBuild:
    """Cancel a build that has not ended; what was captured stays visible."""
    reason = (body and body.reason) or f"cancelled by {caller.actor}"
    why = Cancel(caller.actor, reason)
    cancelled = await cancel_build(parts.db, parts.kinds, build.id, why)
    return OneBuild(build=await build_out(parts, project, cancelled))


@router.post("/{number}/capture-again", dependencies=[needs(Action.RUN)])
async def again(
    project: WithProject, build: WithBuild, caller: WithCaller, parts: WithParts
) -> OneBuild:
    """Plan and capture a broken, failed, incomplete or cancelled build anew."""
    queued = await capture_again(parts.db, build.id, caller.actor)
    return OneBuild(build=await build_out(parts, project, queued))


@router.post("/{number}/decisions", dependencies=[needs(Action.DECIDE)])
async def decide_snapshots(
    project: WithProject, build: WithBuild, caller: WithCaller, parts: WithParts, body: Decide
) -> DecidedBuild:
    """Accept, deny or undo; all of the named snapshots, or none. Errored ones never."""
    if body.all == bool(body.snapshots):
        raise NothingToDecideError
    if body.all:
        decided = await decide_all(parts.db, build.id, body.decision, caller)
    else:
        seen = [Seen(SnapshotId(one.id), one.seen) for one in body.snapshots]
        decided = await decide(parts.db, build.id, seen, body.decision, caller)
    shown = await build_out(parts, project, decided.build)
    return DecidedBuild(build=shown, decided=decided.number)
