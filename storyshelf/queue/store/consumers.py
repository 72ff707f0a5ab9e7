"""Who is there to claim: one row a consumer process, kept fresh by its beat."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import ConsumerId, EnvironmentId, JobId

REGISTER = text("""
INSERT INTO consumers (id, host, pid, version, lanes, kinds, environment_id)
VALUES (
    :id, :host, :pid, :version, CAST(:lanes AS text[]), CAST(:kinds AS text[]), :environment_id
)
""")

BEAT = text("""
UPDATE consumers SET
    beat_at = statement_timestamp(), running = CAST(:running AS jsonb),
    state = CASE
        WHEN :state = 'stopping' OR :state = 'quiet' AND state = 'running' THEN :state
        ELSE state
    END
WHERE id = :id
RETURNING state
""")

MARK = text("UPDATE consumers SET state = :state WHERE id = :id")

REMOVE = text("DELETE FROM consumers WHERE id = :id")

REMOVE_SILENT = text("""
DELETE FROM consumers WHERE beat_at < statement_timestamp() - make_interval(secs => :silent_s)
RETURNING id
""")

LIVE = text("""
SELECT id, host, pid, version, state, lanes, kinds, environment_id, running, started_at, beat_at
FROM consumers
WHERE beat_at >= statement_timestamp() - make_interval(secs => :silent_s)
ORDER BY started_at, id
""")


class ConsumerState(StrEnum):
    """What a consumer does with its slots; a quiet one finishes what it has."""

    RUNNING = "running"
    QUIET = "quiet"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer as it introduces itself; the id is unique to this run of the process."""

    id: ConsumerId
    host: str
    pid: int
    version: str
    lanes: tuple[str, ...]
    kinds: tuple[str, ...]
    environment_id: EnvironmentId | None


@dataclass(frozen=True, slots=True)
class Beat:
    """What a consumer says of itself when it beats."""

    running: Sequence[JobId]
    state: ConsumerState = ConsumerState.RUNNING


@dataclass(frozen=True, slots=True)
class LiveConsumer:
    """A consumer that has beaten lately, and what it is working on."""

    consumer: Consumer
    state: ConsumerState
    running: tuple[JobId, ...]
    started_at: datetime
    beat_at: datetime


async def register_consumer(tx: Tx, consumer: Consumer) -> None:
    """Say that the consumer is there."""
    values = {
        "id": consumer.id,
        "host": consumer.host,
        "pid": consumer.pid,
        "version": consumer.version,
        "lanes": list(consumer.lanes),
        "kinds": list(consumer.kinds),
        "environment_id": consumer.environment_id,
    }
    await tx.execute(REGISTER, values)


async def beat(tx: Tx, consumer_id: ConsumerId, said: Beat) -> ConsumerState | None:
    """Say that the consumer lives; return the state it is asked to be in, None if it is unknown.

    It may have become quiet by itself, and what was asked of it goes no step back by that. An
    unknown one was taken for dead, and registers again.
    """
    running = json.dumps(list(said.running))
    values = {"id": consumer_id, "running": running, "state": said.state.value}
    state = (await tx.execute(BEAT, values)).scalar_one_or_none()
    return None if state is None else ConsumerState(state)


async def mark_consumer(tx: Tx, consumer_id: ConsumerId, state: ConsumerState) -> None:
    """Say, or ask, what the consumer does with its slots."""
    await tx.execute(MARK, {"id": consumer_id, "state": state.value})


async def remove_consumer(tx: Tx, consumer_id: ConsumerId) -> None:
    """Say that the consumer has gone."""
    await tx.execute(REMOVE, {"id": consumer_id})


async def remove_silent_consumers(tx: Tx, silent_for: timedelta) -> tuple[ConsumerId, ...]:
    """Forget consumers that have not beaten for that long; their jobs are freed by their leases."""
    found = await tx.execute(REMOVE_SILENT, {"silent_s": silent_for.total_seconds()})
    return tuple(found.scalars())


async def live_consumers(tx: Tx, silent_for: timedelta) -> tuple[LiveConsumer, ...]:
    """Return the consumers that have beaten within that time, the oldest first."""
    found = await tx.execute(LIVE, {"silent_s": silent_for.total_seconds()})
    return tuple(
        LiveConsumer(
            consumer=Consumer(
                id=row.id,
                host=row.host,
                pid=row.pid,
                version=row.version,
                lanes=tuple(row.lanes),
                kinds=tuple(row.kinds),
                environment_id=row.environment_id,
            ),
            state=ConsumerState(row.state),
            running=tuple(row.running),
            started_at=row.started_at,
            beat_at=row.beat_at,
        )
        for row in found
    )
