"""Skip a build: nothing is uploaded of a commit, and whoever waits for its verdict is told so."""

from dataclasses import dataclass, replace

from storyshelf.audit import store as audit
from storyshelf.builds import moving, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.store import BuildFilter, NewBuild
from storyshelf.db.engine import Database, Tx
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project


@dataclass(frozen=True, slots=True)
class Skip:
    """Who wants nothing captured, and why."""

    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skipped build, and whether the same was said before."""

    build: Build
    was_there: bool


async def skip_build(db: Database, project: Project, new: NewBuild, why: Skip) -> Skipped:
    """Add a build that ends as skipped; the key of `new` is not used.

    The same commit, branch and reason said again are the same build, as long as the branch has no
    newer one: a request whose answer was lost is repeated.
    """
    async with db.transaction() as tx:
        await projects.lock(tx, project.id)
        newest = await _newest_of_branch(tx, project, new.branch)
        if newest is not None and _is_same(newest, new, why):
            return Skipped(newest, was_there=True)
        number = await projects.take_build_number(tx, project.id)
        keyed = replace(new, idempotency_key=f"skipped as build {number}")
        opened = await moving.add(tx, project.id, number, keyed)
        skipped = await moving.move(tx, opened, BuildState.SKIPPED, state_reason=why.reason)
        detail = {"reason": why.reason}
        event = audit.Event(why.actor, "build.skip", project.id, skipped.id, detail)
        await audit.record(tx, event)
        return Skipped(skipped, was_there=False)


async def _newest_of_branch(tx: Tx, project: Project, branch: str) -> Build | None:
    found = await store.page(tx, project.id, BuildFilter(branch), before=None, limit=1)
    return found[0] if found else None


def _is_same(known: Build, new: NewBuild, why: Skip) -> bool:
    said = (new.commit, new.pull_request, why.reason)
    is_skipped = known.state is BuildState.SKIPPED
    return is_skipped and (known.commit, known.pull_request, known.state_reason) == said
