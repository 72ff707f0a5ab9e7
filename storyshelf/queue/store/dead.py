"""What dead consumers hold: their rows, the leases they will never renew, and leases that ran out.

A lease that is set free here is over like any other that ran out: the next claim takes the job, or
the expiry pass puts it back or ends it, with the attempt's row. So there is one way for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import ConsumerId, JobId

SIBLINGS = text("""
SELECT id, pid, process_started
FROM consumers
WHERE machine = :machine AND machine <> '' AND process_started > 0 AND id <> :own
ORDER BY id
""")

# Locked ones are skipped: somebody takes or ends them at this moment, and needs no help.
FREE = text("""
WITH held AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE state = 'running' AND consumer_id = :consumer
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET lease_expires_at = least(lease_expires_at, statement_timestamp())
WHERE id = ANY (ARRAY(SELECT id FROM held))
RETURNING id
""")

ANY_EXPIRED = text("""
SELECT EXISTS (
    SELECT FROM jobs WHERE state = 'running' AND lease_expires_at <= statement_timestamp()
)
""")


@dataclass(frozen=True, slots=True)
class Sibling:
    """A consumer that says it runs where we do; `process_started` is in the kernel's ticks."""

    id: ConsumerId
    pid: int
    process_started: int


async def siblings(tx: Tx, machine: str, own: ConsumerId) -> Sequence[Sibling]:
    """Return the other consumers that are known on this machine and can be looked for there."""
    found = await tx.execute(SIBLINGS, {"machine": machine, "own": own})
    return [Sibling(row.id, row.pid, row.process_started) for row in found]


async def free_leases(tx: Tx, consumer_id: ConsumerId) -> tuple[JobId, ...]:
    """End every lease of a consumer that is known to be dead; return its jobs."""
    found = await tx.execute(FREE, {"consumer": consumer_id})
    return tuple(sorted(found.scalars()))


async def any_expired(tx: Tx) -> bool:
    """Say whether a lease has run out that nobody has dealt with; nothing is locked."""
    return bool((await tx.execute(ANY_EXPIRED)).scalar_one())
