"""Who is there to claim: one row a consumer process, kept fresh by its beat."""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.db.line import Fetches
from storyshelf.ids import ConsumerId, EnvironmentId, JobId

REGISTER = text("""
INSERT INTO consumers (
    id, host, pid, version, lanes, kinds, environment_id, machine, process_started, slots
)
VALUES (
    :id, :host, :pid, :version, CAST(:lanes AS text[]), CAST(:kinds AS text[]), :environment_id,
    :machine, :process_started, CAST(:slots AS jsonb)
)
""")

# One statement, and so one trip where it has a line of its own. Locked rows are left to the next:
# after a machine slept, each of its consumers may take the others for silent.
BEAT = text("""
WITH silent AS (
    DELETE FROM consumers
    WHERE id = ANY (ARRAY(
        SELECT id FROM consumers
        WHERE beat_at < statement_timestamp() - make_interval(secs => :silent_s) AND id <> :id
        FOR UPDATE SKIP LOCKED
    ))
)
UPDATE consumers SET
    beat_at = statement_timestamp(),
    running = to_jsonb(CAST(:running AS bigint[])),
    state = CASE
        WHEN state = 'stopping' THEN state
        ELSE coalesce(CAST(:state AS text), state)
    END
WHERE id = :id
RETURNING state
""")

MARK = text("UPDATE consumers SET state = :state WHERE id = :id")

REMOVE = text("DELETE FROM consumers WHERE id = :id")

LIVE = text("""
SELECT id, host, pid, version, state, lanes, kinds, environment_id, machine, process_started, slots,
    running, started_at, beat_at
FROM consumers
WHERE beat_at >= statement_timestamp() - make_interval(secs => :silent_s)
ORDER BY started_at, id
""")


class ConsumerState(StrEnum):
    """What a consumer does with its slots; a quiet one finishes what it has."""

    RUNNING = "running"
    QUIET = "quiet"
    STOPPING = "stopping"


# Nobody comes back from stopping: its slots are being taken down, and what supervises the process
# starts another one.
NEXT_STATES: Mapping[ConsumerState, Set[ConsumerState]] = {
    ConsumerState.RUNNING: frozenset({ConsumerState.QUIET, ConsumerState.STOPPING}),
    ConsumerState.QUIET: frozenset({ConsumerState.RUNNING, ConsumerState.STOPPING}),
    ConsumerState.STOPPING: frozenset(),
}


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
    machine: str = ""  # whose process ids mean the same: one boot of one kernel, one pid namespace
    process_started: int = 0  # in the kernel's ticks: a process id is given out again
    slots: Mapping[str, int] = field(default_factory=dict)  # places on each lane


@dataclass(frozen=True, slots=True)
class Beat:
    """What a consumer says of itself when it beats."""

    running: Sequence[JobId]
    news: ConsumerState | None = None  # what it does by itself now, and has not said yet


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
        "machine": consumer.machine,
        "process_started": consumer.process_started,
        "slots": json.dumps(dict(consumer.slots)),
    }
    await tx.execute(REGISTER, values)


async def beat(
    on: Fetches, consumer_id: ConsumerId, said: Beat, silent_for: timedelta
) -> ConsumerState | None:
    """Say that the consumer lives; return the state it is asked to be in, None if it is unknown.

    What it says of itself beats what was asked before, but for a stop. An unknown one was taken for
    dead, and registers again. Those that have not beaten for that long are forgotten here: their
    jobs are freed by their leases.
    """
    values = {
        "id": consumer_id,
        "running": list(said.running),
        "state": None if said.news is None else said.news.value,
        "silent_s": silent_for.total_seconds(),
    }
    rows = await on.fetch(BEAT, values)
    return ConsumerState(rows[0][0]) if rows else None


async def mark_consumer(tx: Tx, consumer_id: ConsumerId, state: ConsumerState) -> None:
    """Say, or ask, what the consumer does with its slots."""
    await tx.execute(MARK, {"id": consumer_id, "state": state.value})


async def remove_consumer(tx: Tx, consumer_id: ConsumerId) -> None:
    """Say that the consumer has gone."""
    await tx.execute(REMOVE, {"id": consumer_id})


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
                machine=row.machine,
                process_started=row.process_started,
                slots=dict(row.slots),
            ),
            state=ConsumerState(row.state),
            running=tuple(row.running),
            started_at=row.started_at,
            beat_at=row.beat_at,
        )
        for row in found
    )
