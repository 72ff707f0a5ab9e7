"""A cap on how much of one project runs at once: what is beyond its share is parked.

Without a cap nothing of this is touched. With one, the project's jobs on the lanes of environments
are parked when they are enqueued, and let in here, so many that no more than the cap are queued,
deferred or running at any time. So no claim ever walks over a backlog that it may not take.
"""

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import ProjectId
from storyshelf.queue.store.hops import parked_projects

AT_ONCE = 1_000  # jobs of one pass, of projects that have no cap any more

SET_CAP = text("""
INSERT INTO running_caps (project_id, most) VALUES (:project_id, :most)
ON CONFLICT (project_id) DO UPDATE SET most = excluded.most
""")
REMOVE_CAP = text("DELETE FROM running_caps WHERE project_id = :project_id")

# The projects that have parked jobs, found by hopping from one to the next: each is looked at once,
# however many jobs it has there.
WAITING = parked_projects("waiting")

# Who holds a cap's row is at it already. The count is a second statement: its snapshot is younger
# than the lock, so that two processes never let in the same share twice.
LOCK_CAPS = text(f"""
WITH RECURSIVE {WAITING}
SELECT c.project_id FROM running_caps AS c
WHERE c.project_id = ANY (ARRAY(SELECT project_id FROM waiting))
ORDER BY c.project_id
FOR UPDATE SKIP LOCKED
""")  # noqa: S608  # a constant

LET_IN = text(f"""
WITH RECURSIVE {WAITING},
capped AS MATERIALIZED (
    SELECT c.project_id, c.most - (
        SELECT count(*) FROM jobs AS j
        WHERE j.capped AND j.state <> 'parked' AND j.project_id = c.project_id
    ) AS places
    FROM running_caps AS c WHERE c.project_id = ANY (CAST(:locked AS bigint[]))
),
next AS MATERIALIZED (
    SELECT p.id FROM capped AS c
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE state = 'parked' AND project_id = c.project_id
        ORDER BY priority DESC, fair_tag, id LIMIT greatest(c.places, 0)
        FOR UPDATE SKIP LOCKED
    ) AS p
),
free AS MATERIALIZED (
    SELECT p.id FROM waiting AS w
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE state = 'parked' AND project_id = w.project_id
        ORDER BY priority DESC, fair_tag, id LIMIT :at_once
        FOR UPDATE SKIP LOCKED
    ) AS p
    WHERE NOT EXISTS (SELECT FROM running_caps AS c WHERE c.project_id = w.project_id)
    LIMIT :at_once
)
UPDATE jobs SET state = 'queued'
WHERE id = ANY (ARRAY(SELECT id FROM next UNION ALL SELECT id FROM free))
RETURNING id
""")  # noqa: S608  # a constant


async def set_running_cap(tx: Tx, project_id: ProjectId, most: int | None) -> None:
    """Let at most so many jobs of the project run at once, None for no limit.

    It holds for what is enqueued from here on; what is parked already is let in by the new cap.
    """
    if most is None:
        await tx.execute(REMOVE_CAP, {"project_id": project_id})
    else:
        await tx.execute(SET_CAP, {"project_id": project_id, "most": most})
    tx.announce("work")


async def let_in_parked(tx: Tx) -> int:
    """Queue as many parked jobs as their projects' caps allow; return how many those were."""
    locked = list((await tx.execute(LOCK_CAPS)).scalars())
    found = await tx.execute(LET_IN, {"locked": locked, "at_once": AT_ONCE})
    let_in = len(found.all())
    if let_in:
        tx.announce("work")
    return let_in
