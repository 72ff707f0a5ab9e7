"""How many jobs of a project on a lane are of the class that goes first; nothing is locked.

All counts walk little: what waits of that class is bounded by who asks here, and no more run than
there are slots. Parked ones count, since all of them are let in once the project has no cap.
"""

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import ProjectId
from storyshelf.queue.job import Priority

WAITED_FOR = text("""
SELECT sum(jobs) FROM (
    SELECT count(*) AS jobs FROM jobs
    WHERE state = 'queued' AND lane = :lane AND priority = :first AND project_id = :project_id
    UNION ALL
    SELECT count(*) FROM jobs
    WHERE state = 'running' AND lane = :lane AND priority = :first AND project_id = :project_id
    UNION ALL
    SELECT count(*) FROM jobs
    WHERE state = 'parked' AND lane = :lane AND priority = :first AND project_id = :project_id
) AS counted
""")


async def waited_for(tx: Tx, lane: str, project_id: ProjectId) -> int:
    """Return how many of the project's jobs there wait or run before those of all others."""
    values = {"lane": lane, "project_id": project_id, "first": int(Priority.INTERACTIVE)}
    return int((await tx.execute(WAITED_FOR, values)).scalar_one())
