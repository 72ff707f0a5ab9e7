"""Consumers that work on whatever there is, through the product's own settler; no browser.

They come late, lose leases and settle twice as freely as they are told to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import text

from storyshelf.builds import moving, plan_build, store
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import CAPTURE, PLAN, BuildPayload
from storyshelf.bundle.index import parse_index
from storyshelf.queue import store as queue
from storyshelf.queue.expiry import end_overdue, requeue_expired
from storyshelf.queue.job import Completed, EndedJob, Ending, Lease, LeaseLostError, Outcome
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Settler
from tests.builds.hand import CAPTURE_LANE, CONSUMER, ENVIRONMENT, LEASE, Hand, Look, index_of
from tests.fakes import FakeClock
from tests.queue.attempts import settled

LANES = {"plan": 2, CAPTURE_LANE: 3, "build": 2}
TIMES = LeaseTimes()
LATER = """
UPDATE jobs SET run_at = run_at - interval '1 hour',
    lease_expires_at = lease_expires_at - interval '1 hour'
"""


@dataclass
class Crew:
    """Works on the builds of a hand's project; `stories` are those of every build."""

    hand: Hand
    stories: Sequence[str]
    clock: FakeClock = field(default_factory=FakeClock)
    settler: Settler = field(init=False)

    def __post_init__(self) -> None:
        self.settler = Settler(self.hand.db, self.hand.kinds, self.clock, draw=lambda: 0.0)

    async def claim(self, lanes: Mapping[str, int] = LANES) -> Sequence[Lease]:
        async with self.hand.db.transaction() as tx:
            return (await queue.claim(tx, CONSUMER, lanes, LEASE)).leases

    async def shoot(self, lease: Lease, look: Look) -> None:
        """Record what the shard's stories look like; a lease that was lost writes nothing."""
        try:
            await self.hand.shoot(lease, look)
        except LeaseLostError:
            return

    async def settle(self, lease: Lease, ending: Ending) -> Outcome | None:
        """Settle as the runner does; those that are settled at once go together where they may."""
        kind = self.hand.kind(lease.kind)
        if isinstance(ending, Completed) and lease.kind == PLAN:
            ending = Completed(await self._planned(lease))
        hold = Hold(lease, self.clock.monotonic(), TIMES)
        attempted = Attempted(hold, kind, ending, kind.parse(lease.payload))
        return await settled(self.settler, attempted)

    async def tell_again(self, lease: Lease, outcome: Outcome) -> None:
        """Report the end of a job once more, after it has left the queue in whatever way."""
        async with self.hand.db.transaction() as tx:
            if not await queue.is_live(tx, lease.job_id):
                job = EndedJob(
                    lease.job_id,
                    lease.kind,
                    lease.payload,
                    lease.project_id,
                    lease.build_id,
                    lease.generation,
                )
                await self.hand.kinds.ended(tx, [job], outcome, "told again")

    async def let_time_pass(self) -> None:
        """Let every lease run out, and every deferred job be due."""
        async with self.hand.db.transaction() as tx:
            await tx.execute(text(LATER))

    async def expire(self) -> None:
        await requeue_expired(self.hand.db)
        await end_overdue(self.hand.db, self.hand.kinds)

    async def work(self, look: Look) -> Sequence[Lease]:
        """Claim what there is and complete it; return what that was."""
        leases = await self.claim()
        for lease in leases:
            if lease.kind == CAPTURE:
                await self.shoot(lease, look)
            await self.settle(lease, Completed())
        return leases

    async def _planned(self, lease: Lease) -> plan_build.Plan | None:
        """Do what the handler of a plan job does; None for a build that moved on."""
        payload = self.hand.kind(PLAN).parse(lease.payload)
        if not await self._begins(payload):
            return None
        listed = parse_index(index_of(self.stories), "index.json").stories
        async with self.hand.db.transaction() as tx:
            around = await plan_build.read_surroundings(
                tx, payload.build_id, ENVIRONMENT, slots=1, shard_cost_ms=100
            )
        return plan_build.plan(plan_build.BundleContent(listed, {}), around)

    async def _begins(self, payload: BuildPayload) -> bool:
        async with self.hand.db.transaction() as tx:
            build = await store.lock(tx, payload.build_id)
            if build.generation != payload.generation:
                return False
            if build.state is BuildState.QUEUED:
                build = await moving.move(tx, build, BuildState.PLANNING)
            return build.state is BuildState.PLANNING
