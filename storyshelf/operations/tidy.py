"""Tidy up: forget lanes that are gone, drop builds past their limits, sweep what nobody names.

It is a job, of which one is enqueued each hour, and a command. One process does it at a time,
whoever it is: the lock is the sweep's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from storyshelf.db.engine import Database
from storyshelf.operations.drop_builds import choices_of, drop_builds
from storyshelf.operations.retention import Choice, Fate, Limits
from storyshelf.operations.sweep import Removes, alone, sweep, would_sweep
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.queue import store as queue
from storyshelf.queue.job_kind import JobKinds
from storyshelf.storage.local_sweep import Freed

PAGE = 200


def nobody_waits() -> None:
    """Serve as `touch` where no lease has to be kept."""


@dataclass(frozen=True, slots=True)
class House:
    """What is tidied, and how: the server's limits, and the grace of blobs.

    `touch` is called after each step, of which none takes long.
    """

    db: Database
    kinds: JobKinds
    blobs: Removes
    limits: Limits
    grace: timedelta
    touch: Callable[[], None] = nobody_waits


@dataclass(frozen=True, slots=True)
class Tidied:
    """What was decided of each project's builds, how many went, and what that freed."""

    choices: Mapping[str, Sequence[Choice]]
    builds: int
    freed: Freed


async def tidy(
    house: House,
    now: datetime,
    slug: str | None = None,
    tell: Callable[[Freed], None] | None = None,
) -> Tidied | None:
    """Tidy one project's builds, or all, and all blobs; None: another process is at it.

    `tell` hears as often as it grows what the sweep has freed so far.
    """
    async with alone(house.db) as lock:
        if lock is None:
            return None
        # Builds and blobs are dated by the database: a clock of ours that is ahead ages neither.
        dated = min(now, await lock.fetchval("SELECT now()"))
        await _forget_lanes(house.db)
        chosen, builds = {}, 0
        for project in await _projects(house.db, slug):
            choices = await choices_of(house.db, project, house.limits, dated)
            builds += await drop_builds(house.db, house.kinds, project, choices, touch=house.touch)
            chosen[project.slug] = choices
            house.touch()
        freed = Freed()
        async for more in sweep(house.db, house.blobs, dated - house.grace):
            freed += more
            house.touch()
            if tell is not None and more.blobs:
                tell(freed)
        return Tidied(chosen, builds, freed)


async def would_tidy(house: House, now: datetime, slug: str | None = None) -> Tidied:
    """Say what tidying would do, and do nothing.

    What only the dropped builds name is not counted: it is not yet without a name.
    """
    chosen = {
        project.slug: await choices_of(house.db, project, house.limits, now)
        for project in await _projects(house.db, slug)
    }
    builds = sum(each.fate is Fate.DROP for choices in chosen.values() for each in choices)
    freed = Freed()
    async for more in would_sweep(house.db, house.blobs, now - house.grace):
        freed += more
    return Tidied(chosen, builds, freed)


async def _forget_lanes(db: Database) -> None:
    forgotten = PAGE
    while forgotten == PAGE:
        async with db.transaction() as tx:
            forgotten = await queue.forget_lanes(tx, limit=PAGE)


async def _projects(db: Database, slug: str | None) -> Sequence[Project]:
    if slug is not None:
        async with db.transaction() as tx:
            return [await projects.by_slug(tx, slug)]
    found: list[Project] = []
    while True:
        after = found[-1].slug if found else ""
        async with db.transaction() as tx:
            page = await projects.page(tx, after_slug=after, limit=PAGE)
        if not page:
            return found
        found += page
