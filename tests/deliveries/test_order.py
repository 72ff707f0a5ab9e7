"""Whatever is interleaved, lost or killed: a forge never hears an older state after a newer one.

The product's own handler and runner work the jobs; a request hangs in the air until the test lets
it land, loses its answer, or kills its consumer. What is in the air when a consumer dies may still
land, for as long as a request can take: that is shorter than the turn its job has.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.deliveries import store
from storyshelf.deliveries.answers import Answer, TryLaterError
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.outbound import Request
from storyshelf.deliveries.store import Wanted
from storyshelf.deliveries.want import enqueue
from storyshelf.deliveries.wish import HookWish, to_json
from storyshelf.ids import BuildId, ConnectionId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Lease
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import read, run
from tests.builds.hand import CONSUMER, LEASE, a_hand
from tests.deliveries.courier import Courier
from tests.queue.attempts import ran

CLEAN = "TRUNCATE projects, jobs, jobs_done, job_attempts, lane_tags RESTART IDENTITY CASCADE"


@dataclass
class Flight:
    """A request in the air, and the attempt that waits for its answer."""

    number: int  # of the wish that it tells
    attempt: "asyncio.Task[None]"
    is_answered: "asyncio.Future[bool]"


@dataclass
class Air:
    """What is between us and the forge, and what the forge has heard, in its order."""

    flights: list[Flight] = field(default_factory=list)
    adrift: list[int] = field(default_factory=list)  # of consumers that died
    heard: list[int] = field(default_factory=list)
    took_off: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, request: Request, /) -> Answer:
        assert request.content is not None
        number = int(request.content.split(b'"status":')[1].split(b",")[0])
        attempt = asyncio.current_task()
        assert attempt is not None
        answered = asyncio.get_running_loop().create_future()
        flight = Flight(number, attempt, answered)
        self.flights.append(flight)
        self.took_off.set()
        if not await answered:
            raise TryLaterError("the answer was lost")
        return Answer(204, {}, b"")


class Act(StrEnum):
    """What may happen next; what cannot is passed over."""

    WISH = "wish"
    START = "start"
    LAND = "land"
    LOSE = "lose the answer"
    MISS = "lose the request"
    KILL = "kill"
    DRIFT_IN = "drift in"
    TIME = "time"


OFTEN = [*Act, Act.WISH, Act.WISH, Act.START, Act.START, Act.START, Act.LAND]


class Order:
    """One subject, any number of consumers."""

    def __init__(self, courier: Courier, connection: ConnectionId, build: BuildId) -> None:
        self.air = Air()
        self.wished = 0
        self.courier = replace(courier, ask=self.air.ask)
        self.connection = connection
        self.build = build

    async def act(self, act: Act, chosen: int) -> None:  # one line an act
        match act:
            case Act.WISH:
                await self._wish()
            case Act.START:
                await self._start()
            case Act.LAND | Act.LOSE if self.air.flights:
                await self._land(chosen, is_answered=act is Act.LAND)
            case Act.MISS if self.air.flights:
                await self._answer(self._flight(chosen), is_heard=False)
            case Act.KILL if self.air.flights:
                await self._kill(self._flight(chosen))
            case Act.DRIFT_IN if self.air.adrift:
                self.air.heard.append(self.air.adrift.pop(0))
            case Act.TIME if not self.air.flights:
                await self._time_passes()
            case _:
                return
        assert self.air.heard == sorted(self.air.heard)

    async def end(self) -> None:
        """Let all of it come to its end: the last wish is what the forge heard last."""
        is_more = True
        while is_more:
            while self.air.flights:
                await self._land(0, is_answered=True)
            await self._time_passes()
            is_more = await self._start()
        assert self.air.heard == sorted(self.air.heard)
        assert self.air.heard[-1:] == ([self.wished] if self.wished else [])
        assert await self.courier.unsaid() == []
        assert await read(self.courier.hand, "SELECT 1 FROM jobs") == []

    async def _land(self, chosen: int, *, is_answered: bool) -> None:
        flight = self._flight(chosen)
        self.air.heard.append(flight.number)
        await self._answer(flight, is_heard=is_answered)

    async def _time_passes(self) -> None:
        """Every term is over, and so is what a dead consumer left in the air."""
        self.air.adrift.clear()
        await self.courier.let_time_pass()

    def _flight(self, chosen: int) -> Flight:
        return self.air.flights.pop(chosen % len(self.air.flights))

    async def _wish(self) -> None:
        self.wished += 1
        wish = HookWish(1, "/", None, {"status": self.wished}, {"slug": "shop"})
        wanted = Wanted(self.connection, self.build, wish.subject, to_json(wish))
        async with self.courier.hand.db.transaction() as tx:
            await enqueue(tx, await store.write_wishes(tx, [wanted]))

    async def _start(self) -> bool:
        """Have one more job worked on, until its request is in the air or it has ended."""
        lease = await self._claim()
        if lease is None:
            return False
        self.air.took_off = asyncio.Event()
        runner = self.courier.runner()
        working = asyncio.create_task(ran(runner, lease, runner.clock.monotonic()))
        flying = asyncio.create_task(self.air.took_off.wait())
        await asyncio.wait({working, flying}, return_when=asyncio.FIRST_COMPLETED)
        flying.cancel()
        if not working.done():
            self.air.flights[-1].attempt = working
        return True

    async def _claim(self) -> Lease | None:
        for _ in range(2):  # those that became due by the first are ready for the second
            async with self.courier.hand.db.transaction() as tx:
                claimed = await queue.claim(tx, CONSUMER, {"deliver": 1}, LEASE)
            if claimed.leases:
                return claimed.leases[0]
        return None

    async def _answer(self, flight: Flight, *, is_heard: bool) -> None:
        flight.is_answered.set_result(is_heard)
        await flight.attempt

    async def _kill(self, flight: Flight) -> None:
        self.air.adrift.append(flight.number)
        flight.attempt.cancel()
        await asyncio.wait({flight.attempt})


async def an_order(db: Database, blobs: Path) -> Order:
    async with db.transaction() as tx:
        await tx.execute(text(CLEAN))
    hand = await a_hand(db, LocalBlobs(blobs))
    courier = Courier(hand, timeout_s=60.0)
    connection = await courier.connect(ConnectionKind.WEBHOOK, "https://hook.test", secret="key")
    build = await hand.open(["a--one"])
    await run(hand, "DELETE FROM deliveries")
    await run(hand, "DELETE FROM jobs")
    return Order(courier, connection, build.id)


async def played(db: Database, blobs: Path, acts: Sequence[tuple[Act, int]]) -> None:
    order = await an_order(db, blobs)
    for act, chosen in acts:
        await order.act(act, chosen)
    await order.end()


def checked(database_url: str, blobs: Path, examples: int) -> None:
    acts = st.lists(st.tuples(st.sampled_from(OFTEN), st.integers(0, 3)), min_size=40, max_size=60)
    with asyncio.Runner() as runner:
        db = Database(database_url)

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],  # a whole world is built for each example: nothing is shrunk
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(acts)
        def each(drawn: Sequence[tuple[Act, int]]) -> None:
            runner.run(played(db, blobs, drawn))

        try:
            each()
        finally:
            runner.run(db.close())


@pytest.mark.timeout(240)
def test_a_forge_hears_states_in_order(database_url: str, tmp_path: Path) -> None:
    checked(database_url, tmp_path / "blobs", 20)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_forge_hears_states_in_order_however_long(database_url: str, tmp_path: Path) -> None:
    checked(database_url, tmp_path / "blobs", 400)
