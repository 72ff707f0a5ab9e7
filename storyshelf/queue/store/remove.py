"""Remove jobs with what they were done for: nobody is told, and who still works on one has lost it.

A consumer that comes back finds no row for its lease, and writes nothing.
"""

from collections.abc import Collection

from sqlalchemy import TextClause, text

from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, ProjectId


def _remove_where(which: str) -> TextClause:
    # Locked in order of id before any is touched, as every path that locks several jobs does.
    return text(f"""
WITH held AS MATERIALIZED (SELECT id FROM jobs WHERE {which} ORDER BY id FOR UPDATE),
gone AS (DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING id)
DELETE FROM job_attempts WHERE job_id IN (SELECT id FROM gone)
""")  # noqa: S608  # `which` is one of the constants below


def _remove_ended_where(which: str) -> TextClause:
    return text(f"""
WITH gone AS (DELETE FROM jobs_done WHERE {which} RETURNING id)
DELETE FROM job_attempts WHERE job_id IN (SELECT id FROM gone)
""")  # noqa: S608  # as above


OF_BUILD = "build_id = :build_id AND kind = ANY (:kinds)"
REMOVE_OF_BUILD = _remove_where(OF_BUILD)
REMOVE_ENDED_OF_BUILD = _remove_ended_where(OF_BUILD)
HAS_ANY = text(f"SELECT EXISTS (SELECT FROM jobs WHERE {OF_BUILD})")  # noqa: S608  # as above
REMOVE_OF_PROJECT = _remove_where("project_id = :project_id")
REMOVE_ENDED_OF_PROJECT = _remove_ended_where("project_id = :project_id")
REMOVE_TAGS = text("DELETE FROM lane_tags WHERE project_id = :project_id")
REMOVE_CAP = text("DELETE FROM running_caps WHERE project_id = :project_id")


async def remove_build_jobs(tx: Tx, build_id: BuildId, kinds: Collection[str]) -> None:
    """Remove a build's live jobs of those kinds; first in its transaction, see the lock order."""
    await tx.execute(REMOVE_OF_BUILD, {"build_id": build_id, "kinds": list(kinds)})


async def has_build_jobs(tx: Tx, build_id: BuildId, kinds: Collection[str]) -> bool:
    """Tell whether the build has live jobs of those kinds, without locking any."""
    found = await tx.execute(HAS_ANY, {"build_id": build_id, "kinds": list(kinds)})
    return bool(found.scalar_one())


async def remove_ended_jobs(tx: Tx, build_id: BuildId, kinds: Collection[str]) -> None:
    """Remove what is kept of a build's ended jobs of those kinds."""
    await tx.execute(REMOVE_ENDED_OF_BUILD, {"build_id": build_id, "kinds": list(kinds)})


async def remove_project_jobs(tx: Tx, project_id: ProjectId) -> None:
    """Remove whatever the queue holds of a project; first in its transaction."""
    for statement in (REMOVE_OF_PROJECT, REMOVE_ENDED_OF_PROJECT, REMOVE_TAGS, REMOVE_CAP):
        await tx.execute(statement, {"project_id": project_id})
