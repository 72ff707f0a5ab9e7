"""Whatever ends, opens or moves shards, beside every other of it: one finalise job, no deadlock.

Both are stopped half-way at a row that a third transaction holds: a job, a shard or the build. An
interleaving goes on when each has ended or waits for a lock.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import pytest
from sqlalchemy import text

from storyshelf.builds.build import (
    Build,
    BuildMovedError,
    NothingToRetryError,
    NotOverError,
)
from storyshelf.builds.cancel_build import sweep_cancelled
from storyshelf.builds.capture_again import cancel_shard, capture_again, retry_shard
from storyshelf.builds.mend_build import mend
from storyshelf.queue.expiry import end_overdue
from storyshelf.queue.job import Completed, Ending, Failed, Lease, Outcome
from tests.builds.crew import Crew
from tests.builds.facts import read
from tests.builds.hand import Hand
from tests.builds.test_fan_in_model import STORIES, WRONG
from tests.db.waiting import WAITING

LOOK = dict.fromkeys(STORIES, "red")
HELD = {
    "a job": "SELECT FROM jobs WHERE id = (SELECT max(job_id) FROM shards) FOR UPDATE",
    "a shard": "SELECT FROM shards WHERE id = (SELECT max(id) FROM shards) FOR UPDATE",
    "the build": "SELECT FROM builds WHERE id = (SELECT max(id) FROM builds) FOR UPDATE",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A build of three shards: one has failed, two are shot, and their leases are over."""

    crew: Crew
    build: Build
    leases: Sequence[Lease]

    async def settle(self, leases: Sequence[Lease], ending: Ending) -> None:
        async with asyncio.TaskGroup() as group:
            for lease in leases:
                group.create_task(self.crew.settle(lease, ending))


Act = Callable[[Scene], Awaitable[object]]


async def set_up(hand: Hand) -> Scene:
    crew = Crew(hand, STORIES)
    build = await hand.upload(STORIES)
    await crew.work(LOOK)
    failing, *leases = await crew.claim()
    await crew.settle(failing, Failed("no"))
    for lease in leases:
        await crew.shoot(lease, LOOK)
    assert len(leases) == 2
    return Scene(crew, build, leases)


async def complete(scene: Scene) -> None:
    await scene.settle(scene.leases, Completed())


async def complete_the_other_way_round(scene: Scene) -> None:
    await scene.settle(scene.leases[::-1], Completed())


async def fail_the_last(scene: Scene) -> None:
    await scene.settle(scene.leases[1:], Failed("no"))


async def tell_a_crash(scene: Scene) -> None:
    await scene.settle(scene.leases[:1], Failed("it died", Outcome.CRASHED))
    await scene.crew.tell_again(scene.leases[0], Outcome.CRASHED)


async def cancel(scene: Scene) -> None:
    await scene.crew.hand.cancel(scene.build)


async def cancel_shards(scene: Scene) -> None:
    hand = scene.crew.hand
    fresh = await hand.fresh(scene.build)
    for number in (3, 2, 1):
        await cancel_shard(hand.db, hand.kinds, fresh, number, "Ada")


async def retry_what_failed(scene: Scene) -> None:
    for number in (1, 2, 3):
        with suppress(NothingToRetryError):
            await retry_shard(scene.crew.hand.db, scene.build.id, number, "Ada")


async def cancel_and_capture_again(scene: Scene) -> None:
    await cancel(scene)
    await capture_again(scene.crew.hand.db, scene.build.id, "Ada")


async def lose_and_expire(scene: Scene) -> None:
    hand = scene.crew.hand
    await scene.crew.let_time_pass()
    await scene.crew.expire()
    await end_overdue(hand.db, hand.kinds)


async def keep_house(scene: Scene) -> None:
    hand = scene.crew.hand
    await sweep_cancelled(hand.db, hand.kinds)
    async with hand.db.transaction() as tx:
        assert await mend(tx, scene.build.id) is None


ACTS: Sequence[Act] = [
    complete,
    complete_the_other_way_round,
    fail_the_last,
    tell_a_crash,
    cancel,
    cancel_shards,
    retry_what_failed,
    cancel_and_capture_again,
    lose_and_expire,
    keep_house,
]


async def done(act: Act, scene: Scene) -> None:
    with suppress(BuildMovedError, NotOverError):
        await act(scene)


async def until_all_stand(hand: Hand, under_way: Sequence["asyncio.Task[None]"]) -> None:
    """Return once each has ended or waits for a lock."""
    while not all(task.done() for task in under_way):
        async with hand.db.transaction() as tx:
            waiting = (await tx.execute(WAITING)).scalar_one()
        if waiting + sum(task.done() for task in under_way) >= len(under_way):
            return


async def check(scene: Scene, pair: str) -> None:
    """Nothing is wrong now, and nothing once all there is to do is done."""
    assert await wrong(scene.crew.hand) == {}, pair
    while await read(scene.crew.hand, "SELECT id FROM jobs"):
        await scene.crew.let_time_pass()
        await scene.crew.expire()
        await scene.crew.work(LOOK)
    assert await wrong(scene.crew.hand) == {}, pair
    fresh = await scene.crew.hand.fresh(scene.build)
    assert (fresh.has_ended, fresh.open_shards) == (True, 0), pair
    await scene.crew.settler.close()


async def wrong(hand: Hand) -> dict[str, object]:
    found = {what: await read(hand, statement) for what, statement in WRONG.items()}
    return {what: rows for what, rows in found.items() if rows}


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "held",
    [
        "a shard",
        pytest.param("a job", marks=pytest.mark.long),
        pytest.param("the build", marks=pytest.mark.long),
    ],
)
async def test_no_two_ends_of_shards_make_two_finalise_jobs(hand: Hand, held: str) -> None:
    for first, second in combinations_with_replacement(ACTS, 2):
        scene = await set_up(hand)
        async with asyncio.TaskGroup() as group, hand.db.transaction() as tx:
            await tx.execute(text(HELD[held]))
            one = group.create_task(done(first, scene))
            await until_all_stand(hand, [one])
            elsewhere = replace(scene, crew=Crew(hand, STORIES))  # what one settles it would join
            two = group.create_task(done(second, elsewhere))
            await until_all_stand(hand, [one, two])
        await elsewhere.crew.settler.close()
        await check(scene, f"{first.__name__}, {second.__name__}")
