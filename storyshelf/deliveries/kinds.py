"""The `deliver` job: one subject of one connection; what the consumer does is added there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from storyshelf.db.engine import Tx
from storyshelf.deliveries import store
from storyshelf.deliveries.store import Raised
from storyshelf.ids import DeliveryId, JobId
from storyshelf.queue.job import EndedJob, MalformedPayloadError, NewJob, Outcome, Payload
from storyshelf.queue.job_kind import JobKind, Settled
from storyshelf.queue.retry import RetryPolicy

DELIVER = "deliver"
DELIVER_LANE = "deliver"
RETRY = RetryPolicy(base=timedelta(seconds=5), ceiling=timedelta(minutes=10))
MAX_ATTEMPTS = 48  # some seven hours of a forge that does not answer


@dataclass(frozen=True, slots=True)
class DeliverPayload:
    """Which subject, and the wish that the job was enqueued for."""

    delivery_id: DeliveryId
    version: int


@dataclass(frozen=True, slots=True)
class Said:
    """What the handler returns: this version stands at the other end."""

    version: int


def deliver_job(raised: Raised) -> NewJob:
    """Return the job of a wish; it is no build's job, since it outlives a cancelled one."""
    return NewJob(
        kind=DELIVER,
        lane=DELIVER_LANE,
        payload={"delivery_id": raised.id, "version": raised.version},
        project_id=raised.project_id,
        max_attempts=MAX_ATTEMPTS,
    )


def parse_deliver(payload: Payload) -> DeliverPayload:
    """Read a payload; raises MalformedPayloadError."""
    return DeliverPayload(DeliveryId(_number(payload, "delivery_id")), _number(payload, "version"))


def deliver_kind() -> JobKind:
    """Return the kind as server and consumers register it, without its handler.

    Its jobs wait for a consumer however long it takes: ended, they would leave a check unresolved.
    """
    return JobKind(
        name=DELIVER,
        lane=DELIVER_LANE,
        parse=parse_deliver,
        apply=_apply,
        ended=_ended,
        retry=RETRY,
        is_patient=True,
    )


async def _apply(tx: Tx, settled: Sequence[Settled]) -> None:
    for one in settled:
        if isinstance(one.result, Said):  # none: there was nothing to say
            payload: DeliverPayload = one.parsed
            await store.mark_sent(tx, payload.delivery_id, one.lease.job_id, one.result.version)


async def _ended(tx: Tx, jobs: Sequence[EndedJob], _outcome: Outcome, error: str) -> None:
    for job in jobs:
        try:
            payload = parse_deliver(job.payload)
        except MalformedPayloadError:
            continue  # no subject can be told from it
        # Builds that end in the same transaction come before subjects in the lock order.
        tx.close_with(_mark_failed, (payload.delivery_id, job.job_id, payload.version, error))


async def _mark_failed(tx: Tx, failed: Sequence[tuple[DeliveryId, JobId, int, str]]) -> None:
    for delivery_id, job_id, version, error in sorted(failed):
        await store.mark_failed(tx, delivery_id, job_id, version, error)


def _number(payload: Payload, name: str) -> int:
    value: Any = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise MalformedPayloadError(DELIVER, f"{name} is {value!r}, not a number from 1")
    return value
