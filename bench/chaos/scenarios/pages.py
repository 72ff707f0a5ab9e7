"""PostgreSQL stops at once while eight people act on the operations page."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from httpx import AsyncClient

from bench.chaos.acting import Deed, People, a_server, act
from bench.chaos.scenarios.outage import crash
from bench.chaos.work import stories_of
from bench.chaos.world import World
from bench.report import Length
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.ids import BuildId
from storyshelf.operations.act_on_consumer import ASKED_FROM, STATES, Wish
from storyshelf.queue.outage import may_pass
from storyshelf.queue.store import ConsumerState

STOPS = {Length.QUICK: 2, Length.FULL: 6}
STANDS_FOR_S = 4.0  # between two stops
SHARDS = 12
PUPPETS = 200  # rows of consumers that nobody is behind: real ones would stop when asked
PUPPET = """
INSERT INTO consumers (id, host, pid, version, lanes, kinds, beat_at)
SELECT 'puppet-' || n, 'nowhere', n, '0', '{}', '{}', now() + interval '1 hour'
FROM generate_series(1, $1::int) AS n
"""
ALARM = "INSERT INTO alarms (name, count) VALUES ($1, 1)"
AUDIT = """
SELECT action, coalesce(detail ->> 'job', detail ->> 'consumer', detail ->> 'alarm') AS about
FROM audit_events ORDER BY id
"""
OURS = frozenset(
    {"job.cancel", "job.release", "alarm.dismiss", *(f"consumer.{wish}" for wish in Wish)}
)
LATE = """
SELECT count(*) FROM audit_events AS e
JOIN jobs_done AS d ON d.id = CAST(e.detail ->> 'job' AS bigint)
WHERE e.action = 'job.cancel' AND e.at > d.finished_at
"""
SHOWN = 5
COMES_EVERY_S = 0.3
RETRIES = ("build.capture_again", "shard.retry")
# A job that waited and was cancelled ended there and then; the kinds' `ended` ran in the server,
# which knows nothing of our record. What they have to do shows in shards and builds.
TELL = """
INSERT INTO chaos_effects (job_id)
SELECT id FROM jobs_done
WHERE outcome = 'cancelled' AND id NOT IN (SELECT job_id FROM chaos_effects)
RETURNING job_id
"""
UNSEALED = "SELECT id FROM builds WHERE state = 'uploading'"


async def stopped_actions(world: World, length: Length) -> Mapping[str, Any]:
    """Retry, cancel, release, quiet, stop and dismiss while the database goes away and returns."""
    await world.ask(PUPPET, PUPPETS)
    await world.consume_all("ab")
    people = People()
    async with (
        a_server(world) as clients,
        world.beside(_keep_coming(world)),
        _acting(world, clients, people),
    ):
        for _ in range(STOPS[length]):
            await world.clock.sleep(STANDS_FOR_S)
            await crash(world)
        await world.clock.sleep(STANDS_FOR_S)
    for row in await world.ask(UNSEALED):
        gone = Cancel("nobody", "its upload was cut off")
        await cancel_build(world.db, world.hand.kinds, BuildId(row["id"]), gone)
    await world.until_empty()
    await _expect_audited(world, people)
    await _expect_states(world)
    by_people = {row["job_id"] for row in await world.ask(TELL)}
    asked = {int(deed.about) for deed in await _audited(world) if deed.action == "job.cancel"}
    world.expect(by_people <= asked, f"who ended a job is told: {by_people - asked}")
    world.expect(people.unsure, "a stop hit an action")
    return {"answers": dict(people.answers), "done": _by_action(people.done)}


@asynccontextmanager
async def _acting(
    world: World, clients: Sequence[AsyncClient], people: People
) -> AsyncIterator[None]:
    """Have them act while the block lasts; each has its last answer when this ends."""
    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(act(world, client, people, over))
        try:
            yield
        finally:
            over.set()


async def _keep_coming(world: World) -> None:
    """Bring in builds and raise alarms; an upload that was cut off is one that nobody promised."""
    for number in count(1):
        try:
            await world.upload(1, stories_of(SHARDS))
            await world.ask(ALARM, f"alarm-{number}")
        except Exception as error:
            if not may_pass(error):
                raise
        await world.clock.sleep(COMES_EVERY_S)


async def _audited(world: World) -> Counter[Deed]:
    return Counter(Deed(row["action"], row["about"]) for row in await world.ask(AUDIT))


async def _expect_audited(world: World, people: People) -> None:
    """What was answered with success was done, and what was refused was not: by the audit."""
    for fault in people.faults[:SHOWN]:
        world.expect(None, f"each is answered with success or a reason: {fault}")
    audited = await _audited(world)
    ours = [deed for deed in audited if deed.action in OURS]
    for deed in {*ours, *people.done, *people.unsure}:
        if not deed.action.endswith("retry"):
            _expect_between(world, people, [deed], audited[deed])
    retries = [deed for deed in {*people.done, *people.unsure} if deed.action == "job.retry"]
    times = sum(number for deed, number in audited.items() if deed.action in RETRIES)
    _expect_between(world, people, retries, times)
    late = await world.count(LATE)
    world.expect(late == 0, f"nobody is told to have cancelled what had ended: {late}")


def _expect_between(world: World, people: People, deeds: Sequence[Deed], times: int) -> None:
    least = sum(people.done[deed] for deed in deeds)
    most = least + sum(people.unsure[deed] for deed in deeds)
    what = deeds[0] if deeds else "nothing"
    world.expect(least <= times <= most, f"{what} is audited {least} to {most} times: {times}")


async def _expect_states(world: World) -> None:
    """Consumers and alarms are as the audit has left them."""
    states: defaultdict[str, ConsumerState] = defaultdict(lambda: ConsumerState.RUNNING)
    dismissed: set[str] = set()
    for row in await world.ask(AUDIT):
        about, wish = row["about"], row["action"].partition(".")[2]
        if row["action"] == "alarm.dismiss":
            dismissed.add(about)
        if row["action"].startswith("consumer."):
            known = states[about] in ASKED_FROM[Wish(wish)]
            world.expect(known, f"{about} was {states[about]} when asked to {wish}")
            states[about] = STATES[Wish(wish)]
    for row in await world.ask("SELECT id, state FROM consumers"):
        world.expect(states[row["id"]] == row["state"], f"{row['id']} is as it was asked: {row}")
    up = {row["name"] for row in await world.ask("SELECT name FROM alarms")}
    world.expect(not up & dismissed, f"what was dismissed is gone: {up & dismissed}")


def _by_action(done: Counter[Deed]) -> Mapping[str, int]:
    counts = Counter[str]()
    for deed, times in done.items():
        counts[deed.action] += times
    return dict(counts)
