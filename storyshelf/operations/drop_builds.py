"""Delete the builds of a project that are past its limits."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

import structlog

from storyshelf.builds import store as builds
from storyshelf.builds.build import BuildGoneError
from storyshelf.db.engine import Database
from storyshelf.errors import ConflictError
from storyshelf.ids import BuildId
from storyshelf.operations import store
from storyshelf.operations.delete_build import Deletion, delete_build
from storyshelf.operations.retention import Choice, Fate, Limits, past_limits, with_needs
from storyshelf.operations.uses import Use, User
from storyshelf.projects.options import ProjectOptions
from storyshelf.projects.project import Project
from storyshelf.queue.job_kind import JobKinds

ACTOR = "rule: retention"

log = structlog.get_logger(__name__)


def limits_of(options: ProjectOptions, default: Limits) -> Limits:
    """Return a project's own limits, and the server's where it has none."""
    return Limits(
        default.builds if options.keep_builds is None else options.keep_builds,
        default.days if options.keep_days is None else options.keep_days,
    )


async def choices_of(
    db: Database, project: Project, default: Limits, now: datetime
) -> Sequence[Choice]:
    """Decide about each of a project's builds, the newest first; nothing is done.

    Without any limit there is nothing to decide.
    """
    limits = limits_of(project.options, default)
    if not limits.are_set:
        return ()
    async with db.transaction() as tx:
        candidates = await store.candidates(tx, project.id)
    choices = past_limits(candidates, project.default_branch, limits, now)
    users = {}
    for choice in choices:
        if choice.fate is Fate.DROP:
            async with db.transaction() as tx:  # each short: thousands of snapshots a build
                users[choice.build.id] = await store.users_of(tx, choice.build.id)
    return with_needs(choices, users)


async def drop_builds(
    db: Database,
    kinds: JobKinds,
    project: Project,
    choices: Sequence[Choice],
    *,
    touch: Callable[[], None] = lambda: None,
) -> int:
    """Delete what the choices say, the newest first; return how many went.

    One that has got a new use meanwhile, or moves all the time, is left for the next pass. `touch`
    is called after each build that was looked at.
    """
    kept = {choice.build.id for choice in choices if choice.fate is Fate.KEEP}
    dropped = 0
    for choice in choices:
        if choice.fate is Fate.DROP and await _drop(db, kinds, choice, kept):
            dropped += 1
            log.info("build.dropped", project=project.slug, build=choice.build.number)
        touch()
    return dropped


async def _drop(db: Database, kinds: JobKinds, choice: Choice, kept: Collection[BuildId]) -> bool:
    """Delete a build; return whether it went."""

    def is_let_go(user: User) -> bool:
        """Tell whether it only shows a baseline, and is kept for what others need of it."""
        return user.use is Use.BASELINE and user.build_id in kept

    try:
        async with db.transaction() as tx:
            build = await builds.lock(tx, choice.build.id)
        await delete_build(db, kinds, build, Deletion(ACTOR, choice.reason, is_let_go))
    except (BuildGoneError, ConflictError) as error:
        log.info("build.not_dropped", build=choice.build.number, error=str(error))
        return False
    return True
