"""The one way for a build to come into being and to move: told to whoever waits for its verdict.

What is told is read at the end of the transaction that moves the build, so that it holds the counts
which that transaction leaves behind.
"""

from collections.abc import Sequence
from typing import Any

from storyshelf.builds import store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.store import NewBuild, Pinned
from storyshelf.db.engine import Tx
from storyshelf.deliveries import store as deliveries
from storyshelf.deliveries.message import BuildFacts
from storyshelf.deliveries.want import want
from storyshelf.ids import BuildId, ProjectId
from storyshelf.projects import store as projects
from storyshelf.snapshots import store as snapshots


async def add(tx: Tx, project_id: ProjectId, number: int, new: NewBuild) -> Build:
    """Write a build that is about to be uploaded; see store.add."""
    return _told(tx, await store.add(tx, project_id, number, new))


async def move(tx: Tx, build: Build, to: BuildState, **changes: Any) -> Build:
    """Move the build by compare-and-set; see store.move. Raises BuildMovedError."""
    return _told(tx, await store.move(tx, build, to, **changes))


async def start_capture(tx: Tx, build: Build, open_shards: int, pinned: Pinned) -> Build:
    """Move a planned build on; see store.start_capture."""
    return _told(tx, await store.start_capture(tx, build, open_shards, pinned))


async def seal(tx: Tx, build: Build) -> Build:
    """Move an uploaded build on; see store.seal."""
    return _told(tx, await store.seal(tx, build))


def _told(tx: Tx, build: Build) -> Build:
    tx.close_with(_tell, (build.project_id, build.id))
    return build


async def _tell(tx: Tx, moved: Sequence[tuple[ProjectId, BuildId]]) -> None:
    connections = await deliveries.hold(tx, sorted({project for project, _ in moved}))
    told = {connection.project_id for connection in connections}
    ids = sorted(build_id for project, build_id in moved if project in told)
    if ids:
        await want(tx, connections, [await _facts(tx, build_id) for build_id in ids])


async def _facts(tx: Tx, build_id: BuildId) -> BuildFacts:
    build = await store.by_id(tx, build_id)
    project = await projects.by_id(tx, build.project_id)
    return BuildFacts(
        project_id=project.id,
        slug=project.slug,
        project_name=project.name,
        build_id=build.id,
        number=build.number,
        branch=build.branch,
        commit=build.commit,
        author=build.author,
        pull_request=build.pull_request,
        state=build.state.value,
        reason=build.state_reason,
        rule=build.rule,
        is_sealed=build.sealed_at is not None,
        counts=await snapshots.counts(tx, build.id, build.planned_generation),
    )
