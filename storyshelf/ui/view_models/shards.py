"""The shards of a build with the tries at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.shard_store import NEXT_STATES, ShardState
from storyshelf.queue.store import Attempt
from storyshelf.review.read import ShardView
from storyshelf.ui.signs import SHARD_SIGNS, Sign
from storyshelf.ui.words import When, number_of, span, when


@dataclass(frozen=True, slots=True)
class TryLine:
    """One ended attempt."""

    words: str
    error: str
    ended: When


@dataclass(frozen=True, slots=True)
class ShardLine:
    """One shard."""

    number: int
    sign: Sign
    stories: str
    consumer: str
    took: str
    error: str
    tries: Sequence[TryLine]
    can_retry: bool
    can_cancel: bool


def shard_lines(views: Sequence[ShardView], build: Build, now: datetime) -> Sequence[ShardLine]:
    """Return what the page says of each shard."""
    return [_line(view, build, now) for view in views]


def _line(view: ShardView, build: Build, now: datetime) -> ShardLine:
    shard = view.shard
    ended = shard.closed_at or now
    return ShardLine(
        number=shard.number,
        sign=SHARD_SIGNS[shard.state],
        stories=number_of(shard.stories, "snapshot"),
        consumer=view.consumer or _last_consumer(view.attempts),
        took=span((ended - shard.opened_at).total_seconds()),
        error=shard.error or "",
        tries=[_try(attempt, now) for attempt in view.attempts],
        can_retry=_may_retry(build) and ShardState.OPEN in NEXT_STATES[shard.state],
        can_cancel=build.state is BuildState.CAPTURING and shard.state is ShardState.OPEN,
    )


def _may_retry(build: Build) -> bool:
    """Tell whether shards of the build are tried again; one that is being finalised is too late."""
    is_open = build.state is BuildState.CAPTURING and build.open_shards > 0
    return is_open or build.state is BuildState.FAILED


def _last_consumer(attempts: Sequence[Attempt]) -> str:
    return (attempts[-1].consumer_id or "") if attempts else ""


def _try(attempt: Attempt, now: datetime) -> TryLine:
    return TryLine(
        words=f"Attempt {attempt.attempt}: {attempt.outcome}",
        error=attempt.error or "",
        ended=when(attempt.ended_at, now),
    )
