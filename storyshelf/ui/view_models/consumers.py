"""Live consumers: what each has room for, what it runs, and what can be asked of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from storyshelf.queue.store import ConsumerState, LiveConsumer, UnfinishedJob
from storyshelf.ui.signs import Sign
from storyshelf.ui.view_models.job_lines import JobLine, Names, unfinished_line
from storyshelf.ui.words import SHORT_ENVIRONMENT, When, short_lane, when
from storyshelf.web.links import Links

LATE = timedelta(seconds=35)  # two beats of 15 s have not come; then it may be gone
CONSUMER_SIGNS = {
    ConsumerState.RUNNING: Sign("takes work", "good"),
    ConsumerState.QUIET: Sign("takes no more", "quiet"),
    ConsumerState.STOPPING: Sign("stops", "quiet"),
}
NO_BEAT = Sign("silent", "bad")


@dataclass(frozen=True, slots=True)
class SlotLine:
    """The places of a consumer on a lane, and how many it uses."""

    lane: str
    lane_short: str
    used: int
    words: str


@dataclass(frozen=True, slots=True)
class ConsumerLine:
    """A live consumer, and what it runs."""

    id: str
    host: str
    pid: int
    version: str
    environment: str
    environment_short: str
    slots: Sequence[SlotLine]
    sign: Sign
    started: When
    beat: When
    jobs: Sequence[JobLine]
    quiet_link: str | None
    resume_link: str | None
    stop_link: str | None


def consumer_line(
    one: LiveConsumer, running: Sequence[UnfinishedJob], names: Names, now: datetime
) -> ConsumerLine:
    """Return a consumer with those of the jobs that it holds."""
    own = [job for job in running if job.consumer_id == one.consumer.id]
    environment, link = one.consumer.environment_id or "", Links().consumer(one.consumer.id)
    stops, takes = one.state is ConsumerState.STOPPING, one.state is ConsumerState.RUNNING
    return ConsumerLine(
        id=one.consumer.id,
        host=one.consumer.host,
        pid=one.consumer.pid,
        version=one.consumer.version,
        environment=environment,
        environment_short=environment[:SHORT_ENVIRONMENT],
        slots=slots_of(one, own),
        sign=NO_BEAT if now - one.beat_at > LATE else CONSUMER_SIGNS[one.state],
        started=when(one.started_at, now),
        beat=when(one.beat_at, now),
        jobs=[unfinished_line(job, names, now) for job in own],
        quiet_link=f"{link}/quiet" if takes else None,
        resume_link=None if takes or stops else f"{link}/resume",
        stop_link=None if stops else f"{link}/stop",
    )


def slots_of(one: LiveConsumer, own: Sequence[UnfinishedJob]) -> Sequence[SlotLine]:
    """Return the places on each lane that the consumer serves, or holds a job of."""
    used = Counter(job.lane for job in own)
    lanes = sorted({*one.consumer.lanes, *one.consumer.slots, *used})
    return [SlotLine(lane, short_lane(lane), used[lane], _words(one, lane, used)) for lane in lanes]


def _words(one: LiveConsumer, lane: str, used: Mapping[str, int]) -> str:
    """Return how many of how many are in use; an older consumer has not said of how many."""
    places = one.consumer.slots.get(lane)
    return f"{used[lane]}" if places is None else f"{used[lane]} of {places}"
