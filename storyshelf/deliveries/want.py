"""Write what connections should say of builds that moved, in the transaction that moves them."""

from collections.abc import Sequence

from storyshelf.db.engine import Tx
from storyshelf.deliveries import store
from storyshelf.deliveries.connection import Connection
from storyshelf.deliveries.kinds import deliver_job
from storyshelf.deliveries.message import BuildFacts
from storyshelf.deliveries.store import Raised, Wanted
from storyshelf.deliveries.wish import to_json
from storyshelf.deliveries.wishes import wishes_of
from storyshelf.ids import ConnectionId
from storyshelf.queue import store as queue


async def want(tx: Tx, connections: Sequence[Connection], builds: Sequence[BuildFacts]) -> None:
    """Raise what differs from what was wished before, and enqueue its delivery.

    The last thing of a transaction: it locks subjects and then the lane. The connections are held
    by `store.hold`. One that is disabled says it when it is enabled again.
    """
    wanted: dict[tuple[ConnectionId, str], Wanted] = {}
    for facts in sorted(builds, key=lambda facts: facts.build_id):  # the newest has the last word
        for connection in connections:
            if connection.project_id != facts.project_id:
                continue
            for wish in wishes_of(connection.config, facts):
                said = Wanted(
                    *(connection.id, facts.build_id, wish.subject, to_json(wish)),
                    mute=connection.mute,
                )
                wanted[said.connection_id, said.subject] = said
    await enqueue(tx, await store.write_wishes(tx, list(wanted.values())))


async def enqueue(tx: Tx, raised: Sequence[Raised]) -> None:
    """Enqueue the delivery of each subject that has something new to say."""
    await queue.enqueue(tx, [deliver_job(each) for each in raised])
