"""Nobody works on a job that the database may have given to another, whatever the network does.

Times are whole seconds of the holder's clock. What the database's clock shows is of no matter here,
only that both run at one pace: no moment of the one is ever compared with one of the other.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from storyshelf.ids import JobId, LeaseToken
from storyshelf.queue.job import Lease
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.lease_times import LeaseTimes

LEASE = Lease(JobId(1), LeaseToken(UUID(int=1)), "capture", "capture@x", {}, None, None, 0, 1, 1, 3)
seconds = st.integers(0, 100)


@dataclass(frozen=True, slots=True)
class Request:
    """A claim or a renewal: the waits until it is sent, done, and answered; None means never."""

    before_s: int
    there_s: int | None
    back_s: int | None


requests = st.builds(Request, seconds, seconds | st.none(), seconds | st.none())
lease_times = st.tuples(st.integers(2, 120), st.integers(1, 119)).filter(lambda t: t[1] < t[0])


@dataclass(slots=True)
class World:
    """What the database holds of the lease, and what the holder believes."""

    times: LeaseTimes
    hold: Hold
    renewed: list[tuple[int, int]] = field(default_factory=list)  # at, until

    def expires_at(self, now: int) -> int:
        """Until when nobody else may have the job, by what the database was told so far."""
        return max(until for at, until in self.renewed if at <= now)

    def work_ends_at(self) -> float:
        """When the last of the work has stopped, if nothing else is heard."""
        return self.hold.trusted_until + self.times.cancel_within_s + self.times.stop_within_s


def done(world: World, at: int) -> None:
    """Renew the lease in the database, if it still is ours there."""
    if not world.renewed or at < world.expires_at(at):
        world.renewed.append((at, at + int(world.times.lease_for.total_seconds())))


async def live_through(times: LeaseTimes, claim_took_s: int, asked: Sequence[Request]) -> None:
    world = World(times, Hold(LEASE, 0.0, times))
    done(world, claim_took_s)
    events: list[tuple[int, int, str]] = []  # when, for which request, what
    sent_at, sent = claim_took_s, []
    for number, one in enumerate(asked):
        sent_at += one.before_s
        sent.append(sent_at)
        if one.there_s is not None:
            events.append((sent_at + one.there_s, number, "done"))
            if one.back_s is not None:
                events.append((sent_at + one.there_s + one.back_s, number, "told"))
    for now, number, what in sorted(events):
        if now >= world.hold.trusted_until:
            break  # the work is over, and the lease is never trusted again
        if what == "done":
            done(world, now)
        else:
            world.hold.renewed(float(sent[number]))
        assert world.work_ends_at() < world.expires_at(now)
    assert world.work_ends_at() < world.expires_at(max(now for now, _ in world.renewed))


@given(lease_times, seconds, st.lists(requests, max_size=12))
def test_work_has_stopped_before_the_database_can_give_the_job_away(
    lengths: tuple[int, int], claim_took_s: int, asked: list[Request]
) -> None:
    lease_s, margin_s = lengths
    times = LeaseTimes(lease_for=timedelta(seconds=lease_s), margin_s=float(margin_s))
    asyncio.run(live_through(times, claim_took_s, asked))


@given(st.lists(st.integers(0, 1_000), min_size=1))
def test_answers_that_come_in_another_order_never_shorten_the_trust(sent: list[int]) -> None:
    async def heard() -> tuple[float, float]:
        times = LeaseTimes()
        hold = Hold(LEASE, 0.0, times)
        for sent_at in sent:
            hold.renewed(float(sent_at))
        return hold.trusted_until, times.trusted_until(float(max(sent)))

    trusted_until, latest = asyncio.run(heard())
    assert trusted_until == latest
