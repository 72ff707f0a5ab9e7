"""The shards of a build with the tries at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

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


def shard_lines(views: Sequence[ShardView], now: datetime) -> Sequence[ShardLine]:
    """Return what the page says of each shard."""
    return [_line(view, now) for view in views]


def _line(view: ShardView, now: datetime) -> ShardLine:
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
    )


def _last_consumer(attempts: Sequence[Attempt]) -> str:
    return (attempts[-1].consumer_id or "") if attempts else ""


def _try(attempt: Attempt, now: datetime) -> TryLine:
    return TryLine(
        words=f"Attempt {attempt.attempt}: {attempt.outcome}",
        error=attempt.error or "",
        ended=when(attempt.ended_at, now),
    )
