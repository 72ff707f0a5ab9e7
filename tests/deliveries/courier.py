"""Deliver jobs worked off as a consumer does, one call a job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from consumer.kinds.deliver import DeliverHandler, Sender
from storyshelf.auth.secrets import Secrets
from storyshelf.clock import SystemClock
from storyshelf.deliveries import store
from storyshelf.deliveries.connection import (
    ConnectionKind,
    Forge,
    Hook,
    NewConnection,
)
from storyshelf.deliveries.delivery import Delivery
from storyshelf.deliveries.kinds import DELIVER, Said
from storyshelf.deliveries.outbound import Ask, Outbound
from storyshelf.ids import ConnectionId
from storyshelf.operations.kinds import every_kind
from storyshelf.queue import store as queue
from storyshelf.queue.consumer_side import ConsumerOptions, ground_on
from storyshelf.queue.failpoint import Failpoint, no_failpoint
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.job_runner import AttemptWork, JobRunner
from storyshelf.queue.lease_keeper import Hold, LeaseKeeper
from storyshelf.queue.lease_times import LeaseTimes
from tests.builds.facts import read, run
from tests.builds.hand import CONSUMER, LEASE, Hand
from tests.deliveries.forge import NESTED, SHOP, TOKEN
from tests.queue.attempts import ran

ROOT = "http://shelf.test"
KEY = b"k" * 32
MARKER = "m4rk3r"
UNSAID = "SELECT * FROM deliveries WHERE state <> 'sent' OR sent_version < version"


@dataclass
class Courier:
    hand: Hand
    secrets: Secrets = field(default_factory=lambda: Secrets(KEY))
    timeout_s: float = 2.0
    failpoint: Failpoint = no_failpoint
    ask: Ask | None = None

    async def connect(self, kind: ConnectionKind, url: str, **how: Any) -> ConnectionId:
        secret = how.pop("secret", TOKEN)
        config: Forge | Hook = Hook(url)
        if kind is ConnectionKind.GITHUB:
            config = Forge(url, how.pop("repository", SHOP), MARKER, **how)
        elif kind is ConnectionKind.GITLAB:
            config = Forge(f"{url}/api/v4", how.pop("repository", NESTED), MARKER, **how)
        new = NewConnection(kind, kind.value, config, secret)
        async with self.hand.db.transaction() as tx:
            return await store.add(tx, self.hand.project.id, new, self.secrets.seal(secret))

    async def deliver(self) -> int:
        """Work off what is ready; return how many jobs that were."""
        done = 0
        while await self.deliver_one():
            done += 1
        return done

    async def deliver_one(self) -> bool:
        async with self.hand.db.transaction() as tx:
            claimed = await queue.claim(tx, CONSUMER, {"deliver": 1}, LEASE)
        if claimed.next_due_s == 0 and not claimed.leases:
            return await self.deliver_one()  # deferred ones became ready just now
        runner = self.runner()
        for lease in claimed.leases:
            await ran(runner, lease, runner.clock.monotonic())
        return bool(claimed.leases)

    def runner(self) -> JobRunner:
        clock, times, db = SystemClock(), LeaseTimes(), self.hand.db
        handler = DeliverHandler(
            Sender(
                root=ROOT,
                ask=self.ask or Outbound(allows_private=True, timeout_s=self.timeout_s),
                secrets=self.secrets,
                clock=clock,
                draw=lambda: 0.0,
                send_within_s=2 * self.timeout_s,
                failpoint=self.failpoint,
            )
        )
        handled = [k.handled(handler) if k.name == DELIVER else k for k in every_kind()]
        kinds = JobKinds(handled)
        options = ConsumerOptions(CONSUMER, {}, clock, lambda: 0.0, times)
        ground = ground_on(db, kinds, options)
        return JobRunner(
            db=db,
            kinds=kinds,
            keeper=LeaseKeeper(ground.ask, clock, times),
            settler=ground,
            clock=clock,
            draw=lambda: 0.0,
            times=times,
        )

    async def die_after_saying(self) -> None:
        """Work one job off up to the point where the other end knows, and end there."""
        async with self.hand.db.transaction() as tx:
            (lease,) = (await queue.claim(tx, CONSUMER, {"deliver": 1}, LEASE)).leases
        runner = self.runner()
        kind = runner.kinds.find(lease.kind)
        assert kind is not None
        assert kind.handle is not None
        hold = Hold(lease, runner.clock.monotonic(), runner.times)
        runner.keeper.keep(hold)
        work = AttemptWork(hold, self.hand.db, runner.clock, runner.times, no_failpoint)
        assert isinstance(await kind.handle(work, kind.parse(lease.payload)), Said)

    async def let_time_pass(self) -> None:
        """Have every wait be over: of retries, of rests, of turns and of leases."""
        await run(self.hand, "UPDATE jobs SET run_at = now() WHERE state = 'deferred'")
        await run(self.hand, "UPDATE connections SET resting_until = now() - interval '1 s'")
        await run(self.hand, "UPDATE deliveries SET sending_until = now() - interval '1 s'")
        late = "UPDATE jobs SET lease_expires_at = now() - interval '1 s' WHERE state = 'running'"
        await run(self.hand, late)

    async def deliveries(self) -> list[Mapping[str, Any]]:
        return await read(self.hand, "SELECT * FROM deliveries ORDER BY id")

    async def unsaid(self) -> list[Mapping[str, Any]]:
        return await read(self.hand, UNSAID)

    async def said_of(self, build: Any) -> list[Delivery]:
        async with self.hand.db.transaction() as tx:
            return list(await store.of_build(tx, build.id))
