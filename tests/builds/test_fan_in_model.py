"""Shards close in whatever way and order: a generation of a build is finalised once, at its end."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from storyshelf.builds.build import (
    Build,
    BuildMovedError,
    NoSuchShardError,
    NothingToRetryError,
    NotOverError,
)
from storyshelf.builds.cancel_build import sweep_cancelled
from storyshelf.builds.capture_again import cancel_shard, capture_again, retry_shard
from storyshelf.db.engine import Database
from storyshelf.queue.job import (
    Completed,
    Crashed,
    Ending,
    Failed,
    Lease,
    Outcome,
    Requeued,
    Retried,
)
from storyshelf.storage.local import LocalBlobs
from tests.builds.crew import Crew
from tests.builds.facts import read
from tests.builds.hand import CAPTURE_LANE, a_hand
from tests.queue.builders import run

T = TypeVar("T")
STORIES = ("a--one", "b--two", "c--three")
AT_ONCE = timedelta(0)
ROOTS = "TRUNCATE projects, jobs, jobs_done, job_attempts, lane_tags CASCADE"
FINALISERS = """
SELECT build_id, generation, count(*) AS jobs
FROM (
    SELECT build_id, generation FROM jobs WHERE kind = 'finalise'
    UNION ALL SELECT build_id, generation FROM jobs_done WHERE kind = 'finalise'
) AS made
GROUP BY build_id, generation HAVING count(*) > 1
"""
TOO_EARLY = """
SELECT j.id FROM jobs AS j
JOIN shards AS s ON s.build_id = j.build_id AND s.generation = j.generation AND s.state = 'open'
WHERE j.kind = 'finalise'
"""
MISCOUNTED = """
SELECT b.id, b.state, b.open_shards FROM builds AS b
WHERE b.open_shards <> (
    SELECT count(*) FROM shards AS s
    WHERE s.build_id = b.id AND s.generation = b.generation AND s.state = 'open'
)
"""
STRANDED = """
SELECT b.id, b.state FROM builds AS b
WHERE b.state IN ('queued', 'planning', 'capturing')
    AND NOT EXISTS (
        SELECT FROM jobs AS j WHERE j.build_id = b.id AND j.generation = b.generation
    )
"""
WITHOUT_A_JOB = """
SELECT s.id FROM shards AS s JOIN builds AS b ON b.id = s.build_id
WHERE b.state = 'capturing' AND s.generation = b.generation AND s.state = 'open'
    AND NOT EXISTS (SELECT FROM jobs AS j WHERE j.id = s.job_id)
"""
NOT_FINALISED = """
SELECT b.id FROM builds AS b
WHERE b.state = 'capturing'
    AND (b.open_shards = 0) <> EXISTS (SELECT FROM jobs AS j WHERE j.id = b.finalise_job_id)
"""
WRONG = {
    "finalised more than once": FINALISERS,
    "finalised too early": TOO_EARLY,
    "counts its shards wrongly": MISCOUNTED,
    "waits for nothing": STRANDED,
    "an open shard that nobody captures": WITHOUT_A_JOB,
    "all closed and not finalised, or the other way round": NOT_FINALISED,
}
MOST_BUILDS = 3
Act = Literal["retry a shard", "cancel a shard", "capture again", "cancel"]
MEDDLING: list[Act] = [
    "retry a shard",
    "cancel a shard",
    "cancel a shard",
    "capture again",
    "cancel",
]
REFUSED = (BuildMovedError, NotOverError, NothingToRetryError, NoSuchShardError)

endings: st.SearchStrategy[Ending] = st.sampled_from(
    [
        Completed(),
        Completed(),
        Retried(AT_ONCE, "again"),
        Requeued("released"),
        Failed("no"),
        Crashed(AT_ONCE, "it died"),
    ]
)
looks = st.dictionaries(st.sampled_from(STORIES), st.sampled_from(["red", "blue", "!"]))
numbers = st.integers(1, len(STORIES))


class FanInMachine(RuleBasedStateMachine):
    """Does what people, consumers and time do to builds of three shards."""

    builds = Bundle("builds")
    leases = Bundle("leases")

    def __init__(self, runner: asyncio.Runner, db: Database, folder: Path) -> None:
        super().__init__()
        self._runner = runner
        self.crew = self.do(a_crew(db, folder))
        self.hand = self.crew.hand
        self.number_of_builds = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    @initialize(target=builds)
    def begin_first(self) -> Build:
        return self.begin(STORIES)

    @precondition(lambda self: self.number_of_builds < MOST_BUILDS)
    @rule(target=builds, planned=st.sampled_from([STORIES, STORIES, ()]))
    def begin_another(self, planned: tuple[str, ...]) -> Build:
        return self.begin(planned)

    def begin(self, planned: tuple[str, ...]) -> Build:
        """Upload a build; plan it at once, if it is to have stories by now."""
        self.number_of_builds += 1
        build = self.do(self.hand.upload(STORIES))
        if planned:
            for lease in self.do(self.crew.claim({"plan": MOST_BUILDS})):
                self.do(self.crew.settle(lease, Completed()))
        return build

    @rule(target=leases, places=st.integers(1, 3))
    def claim(self, places: int) -> Any:
        lanes = {"plan": places, CAPTURE_LANE: places, "build": places}
        return multiple(*self.do(self.crew.claim(lanes)))

    @rule(lease=leases, look=looks)
    def shoot(self, lease: Lease, look: dict[str, str]) -> None:
        if lease.kind == "capture":
            self.do(self.crew.shoot(lease, look))

    @rule(leases=st.lists(st.tuples(leases, endings), min_size=1, max_size=4))
    def settle(self, leases: list[tuple[Lease, Ending]]) -> None:
        """At once: what has completed goes together, the rest at the same time beside it."""
        unique = {(lease.job_id, lease.token): (lease, ending) for lease, ending in leases}
        self.do(self._settle_all([*unique.values()]))

    @rule(leases=st.lists(leases, min_size=1, max_size=4), look=looks)
    def finish(self, leases: list[Lease], look: dict[str, str]) -> None:
        """Shoot all there is, and end together."""
        whole = {**dict.fromkeys(STORIES, "red"), **look}
        for lease in leases:
            self.shoot(lease, whole)
        self.settle([(lease, Completed()) for lease in leases])

    async def _settle_all(self, leases: list[tuple[Lease, Ending]]) -> None:
        async with asyncio.TaskGroup() as group:
            for lease, ending in leases:
                group.create_task(self.crew.settle(lease, ending))

    @rule(
        lease=leases,
        outcome=st.sampled_from([Outcome.CRASHED, Outcome.FAILED, Outcome.CANCELLED]),
    )
    def tell_again(self, lease: Lease, outcome: Outcome) -> None:
        self.do(self.crew.tell_again(lease, outcome))

    @rule(target=leases, places=st.integers(1, 2), look=looks, ending=endings)
    def work(self, places: int, look: dict[str, str], ending: Ending) -> Any:
        """Claim, shoot, and end all in one way."""
        leases = self.do(self.crew.claim({CAPTURE_LANE: places, "build": 1}))
        for lease in leases:
            self.shoot(lease, {**dict.fromkeys(STORIES, "red"), **look})
        self.settle([(lease, ending) for lease in leases])
        return multiple(*leases)

    @rule(ends=st.booleans())
    def let_time_pass(self, ends: bool) -> None:  # noqa: FBT001  # drawn
        self.do(self.crew.let_time_pass())
        if ends:
            self.do(self.crew.expire())

    @rule(build=builds, first=numbers, last=numbers, act=st.sampled_from(MEDDLING))
    def meddle(self, build: Build, first: int, last: int, act: Act) -> None:
        for number in range(first, last + 1):
            with suppress(*REFUSED):
                self.do(self._meddle(build, number, act))

    @rule(build=builds, act=st.sampled_from(["retry a shard", "capture again"]))
    def put_right(self, build: Build, act: Act) -> None:
        self.meddle(build, 1, len(STORIES), act)

    async def _meddle(self, build: Build, number: int, act: Act) -> None:
        db, kinds = self.hand.db, self.hand.kinds
        match act:
            case "retry a shard":
                await retry_shard(db, build.id, number, "Ada")
            case "cancel a shard":
                await cancel_shard(db, kinds, await self.hand.fresh(build), number, "Ada")
            case "capture again":
                await capture_again(db, build.id, "Ada")
            case "cancel":
                await self.hand.cancel(build)

    @rule()
    def sweep(self) -> None:
        self.do(sweep_cancelled(self.hand.db, self.hand.kinds))

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.do(self._wrong()) == {}

    async def _wrong(self) -> dict[str, Any]:
        found = {what: await read(self.hand, statement) for what, statement in WRONG.items()}
        return {what: rows for what, rows in found.items() if rows}

    def teardown(self) -> None:
        """Whatever was done, every build comes to its end, and no shard of it stays open."""
        self.do(self._work_until_all_is_done())
        self.nothing_is_wrong()
        assert self.do(read(self.hand, "SELECT id FROM jobs")) == []
        assert self.do(read(self.hand, "SELECT id FROM builds WHERE ended_at IS NULL")) == []
        assert self.do(read(self.hand, "SELECT id FROM shards WHERE state = 'open'")) == []
        self.do(self.crew.settler.close())

    async def _work_until_all_is_done(self) -> None:
        while await read(self.hand, "SELECT id FROM jobs"):
            await self.crew.let_time_pass()
            await self.crew.expire()
            await self.crew.work(dict.fromkeys(STORIES, "red"))


async def a_crew(db: Database, folder: Path) -> Crew:
    hand = await a_hand(db, LocalBlobs(folder))
    return Crew(hand, STORIES)


def walk(url: str, folder: Path, *, examples: int, steps: int) -> None:
    with asyncio.Runner() as runner:
        db = Database(url)

        class OnThisDatabase(FanInMachine):
            def __init__(self) -> None:
                runner.run(run(db, ROOTS))
                super().__init__(runner, db, folder)

        try:
            run_state_machine_as_test(
                OnThisDatabase,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=steps,
                    deadline=None,
                    derandomize=True,
                    suppress_health_check=list(HealthCheck),
                    database=None,
                    phases=[Phase.generate],  # shortening a failure outlasts the timeout
                ),
            )
        finally:
            runner.run(db.close())


@pytest.mark.timeout(120)
def test_a_generation_is_finalised_once_when_its_last_shard_closes(
    database_url: str, tmp_path: Path
) -> None:
    walk(database_url, tmp_path, examples=12, steps=20)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_it_is_so_for_long(database_url: str, tmp_path: Path) -> None:
    walk(database_url, tmp_path, examples=150, steps=50)
