"""Snapshots of a build."""

from typing import Annotated

from fastapi import APIRouter, Query

from storyshelf.api.schemas import SnapshotOut, SnapshotPage
from storyshelf.auth.permissions import Action
from storyshelf.ids import SnapshotId
from storyshelf.review import read, strip
from storyshelf.review.strip import Place
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.web.caller import CallerFirst, WithBuild, WithParts, WithProject, needs
from storyshelf.web.links import Links
from storyshelf.web.numbers import BigId
from storyshelf.web.paging import PageQuery, cursor_of, page_of, parse_cursor

router = APIRouter(
    prefix="/projects/{slug}/builds/{number}/snapshots",
    tags=["snapshots"],
    route_class=CallerFirst,
    dependencies=[needs(Action.VIEW)],
)


class SnapshotQuery(PageQuery):
    """Which snapshots to list."""

    verdict: Verdict | None = None


@router.get("")
async def list_snapshots(
    project: WithProject,
    build: WithBuild,
    parts: WithParts,
    shown: Annotated[SnapshotQuery, Query()],
) -> SnapshotPage:
    """Return the build's snapshots in order of their stories."""
    after = None
    if shown.after is not None:
        title, last = parse_cursor(shown.after, str, int)
        after = Place(str(title), SnapshotId(int(last)))
    async with parts.db.transaction() as tx:
        views = await strip.page(tx, build, Among(shown.verdict), shown.limit + 1, after=after)
    links = Links(parts.public_url)
    page, more = page_of(views, shown.limit, lambda view: cursor_of(view.title, view.id))
    return SnapshotPage(
        items=[
            SnapshotOut.of(view, links.snapshot(project.slug, build.number, view.id))
            for view in page
        ],
        next=more,
    )


@router.get("/{snapshot_id}")
async def show_snapshot(
    snapshot_id: BigId, project: WithProject, build: WithBuild, parts: WithParts
) -> SnapshotOut:
    """Return one snapshot with everything that explains it."""
    async with parts.db.transaction() as tx:
        view = await read.snapshot_view(tx, build, SnapshotId(snapshot_id))
        examined = await read.examined_of(tx, view.id)
    url = Links(parts.public_url).snapshot(project.slug, build.number, view.id)
    return SnapshotOut.of(view, url, examined)
