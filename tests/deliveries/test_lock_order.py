"""Builds move, deliveries settle, people send again, jobs expire: nobody waits for ever.

A deadlock would end one of them with PostgreSQL's own error, which nothing here forgives.
"""

import asyncio

import pytest

from storyshelf.auth.secrets import Secrets
from storyshelf.builds.build import Build
from storyshelf.deliveries.answers import Answer
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.manage import Desk
from storyshelf.deliveries.outbound import Request
from storyshelf.ids import ConnectionId, SnapshotId
from storyshelf.queue.expiry import end_overdue, requeue_expired
from storyshelf.review.decide import Seen, decide
from storyshelf.snapshots.decision import Decision
from tests.builds.facts import read, run, snapshots_of
from tests.builds.hand import Hand
from tests.deliveries.courier import KEY, Courier
from tests.people import ADA

ROUNDS = 6


async def taken(_request: Request, /) -> Answer:
    return Answer(204, {}, b"")


async def decide_often(hand: Hand, build: Build) -> None:
    """Accept, deny, undo: each moves the build, and with it every subject."""
    for decision in (Decision.ACCEPTED, Decision.DENIED, Decision.NONE) * ROUNDS:
        (row,) = (await snapshots_of(hand, build)).values()
        seen = [Seen(SnapshotId(row["id"]), Decision(row["decision"]))]
        await decide(hand.db, build.id, seen, decision, ADA)


async def deliver_often(courier: Courier) -> None:
    for _ in range(4 * ROUNDS):
        await courier.deliver()


async def send_again_often(hand: Hand, connection: ConnectionId) -> None:
    desk = Desk(hand.project.id, "Ada", Secrets(KEY))
    for _ in range(3 * ROUNDS):
        await run(hand, "UPDATE deliveries SET state = 'failed' WHERE id = 1")
        async with hand.db.transaction() as tx:
            await desk.resend(tx, connection)


async def expire_often(hand: Hand) -> None:
    for _ in range(3 * ROUNDS):
        await requeue_expired(hand.db)
        await end_overdue(hand.db, hand.kinds)


@pytest.mark.timeout(120)
async def test_builds_move_while_deliveries_settle(hand: Hand, courier: Courier) -> None:
    courier.ask = taken
    connections = [
        await courier.connect(ConnectionKind.WEBHOOK, f"https://hook{n}.test") for n in range(3)
    ]
    await hand.run({"a--one": "red"})
    build = await hand.run({"a--one": "green"})
    async with asyncio.TaskGroup() as group:
        group.create_task(decide_often(hand, build))
        group.create_task(deliver_often(courier))
        group.create_task(deliver_often(courier))
        group.create_task(send_again_often(hand, connections[0]))
        group.create_task(expire_often(hand))
    await courier.let_time_pass()
    await courier.deliver()
    assert await courier.unsaid() == []
    assert await read(hand, "SELECT 1 FROM jobs WHERE kind = 'deliver'") == []
