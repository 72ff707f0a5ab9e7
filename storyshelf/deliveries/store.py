"""All SQL of connections and deliveries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, case, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import distinct_on, insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow, ConnectionRow, DeliveryRow
from storyshelf.deliveries.connection import (
    Connection,
    ConnectionKind,
    NewConnection,
    NoSuchConnectionError,
    from_json,
    to_json,
)
from storyshelf.deliveries.delivery import Delivery, DeliveryState, Subject, Turn
from storyshelf.ids import BuildId, ConnectionId, DeliveryId, JobId, ProjectId

COLUMNS = (
    ConnectionRow.id,
    ConnectionRow.project_id,
    ConnectionRow.kind,
    ConnectionRow.name,
    ConnectionRow.config,
    ConnectionRow.secret,
    ConnectionRow.disabled_at,
    ConnectionRow.resting_until,
)
DELIVERY = (
    DeliveryRow.id,
    DeliveryRow.connection_id,
    DeliveryRow.subject,
    DeliveryRow.state,
    DeliveryRow.error,
    DeliveryRow.changed_at,
    DeliveryRow.sent_at,
)

_DELIVERIES = (
    select(*DELIVERY, ConnectionRow.name, ConnectionRow.kind, BuildRow.number)
    .join(ConnectionRow, ConnectionRow.id == DeliveryRow.connection_id)
    .outerjoin(BuildRow, BuildRow.id == DeliveryRow.build_id)
)


async def add(tx: Tx, project_id: ProjectId, new: NewConnection, sealed: bytes) -> ConnectionId:
    """Write a connection, its secret sealed."""
    made = await tx.execute(
        insert(ConnectionRow)
        .values(
            project_id=project_id,
            kind=new.kind,
            name=new.name,
            config=to_json(new.config),
            secret=sealed,
        )
        .returning(ConnectionRow.id)
    )
    return ConnectionId(made.scalar_one())


async def connections_of(tx: Tx, project_id: ProjectId) -> Sequence[Connection]:
    """Return the project's connections, the oldest first."""
    rows = await tx.execute(
        select(*COLUMNS).where(ConnectionRow.project_id == project_id).order_by(ConnectionRow.id)
    )
    return [_connection(row) for row in rows]


async def connection(tx: Tx, project_id: ProjectId, connection_id: int) -> Connection:
    """Return one of the project's connections; raises NoSuchConnectionError."""
    rows = await tx.execute(
        select(*COLUMNS).where(
            ConnectionRow.id == connection_id, ConnectionRow.project_id == project_id
        )
    )
    row = rows.one_or_none()
    if row is None:
        raise NoSuchConnectionError(connection_id)
    return _connection(row)


async def hold(tx: Tx, project_ids: Sequence[ProjectId]) -> Sequence[Connection]:
    """Return the projects' connections; none goes, is disabled or enabled before the commit."""
    rows = await tx.execute(
        select(*COLUMNS)
        .where(ConnectionRow.project_id.in_(project_ids))
        .order_by(ConnectionRow.id)
        .with_for_update(read=True)
    )
    return [_connection(row) for row in rows]


async def newest_secret(tx: Tx) -> bytes | None:
    """Return the secret that was sealed last, of whichever project; None: there is none."""
    newest = select(ConnectionRow.secret).order_by(ConnectionRow.id.desc()).limit(1)
    return (await tx.execute(newest)).scalar_one_or_none()


async def replace_secret(tx: Tx, connection_id: ConnectionId, sealed: bytes) -> None:
    """Write another secret."""
    await tx.execute(
        update(ConnectionRow).where(ConnectionRow.id == connection_id).values(secret=sealed)
    )


async def disable(tx: Tx, connection_id: ConnectionId) -> None:
    """Have the connection say nothing from now on."""
    await tx.execute(
        update(ConnectionRow)
        .where(ConnectionRow.id == connection_id)
        .values(disabled_at=func.coalesce(ConnectionRow.disabled_at, func.now()))
    )


async def enable(tx: Tx, connection_id: ConnectionId) -> None:
    """Have the connection speak again."""
    await tx.execute(
        update(ConnectionRow).where(ConnectionRow.id == connection_id).values(disabled_at=None)
    )


async def remove(tx: Tx, connection_id: ConnectionId) -> None:
    """Delete the connection with all that it was to say."""
    await tx.execute(delete(ConnectionRow).where(ConnectionRow.id == connection_id))


async def rest(tx: Tx, connection_id: ConnectionId, for_: timedelta) -> None:
    """Leave the other end alone for that long; a longer rest that was asked for stands."""
    until = func.now() + for_
    await tx.execute(
        update(ConnectionRow)
        .where(ConnectionRow.id == connection_id)
        .values(resting_until=func.greatest(ConnectionRow.resting_until, until))
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a subject should stand, by the word of a build; `mute`: why it is not said by now."""

    connection_id: ConnectionId
    build_id: BuildId
    subject: str
    wish: Mapping[str, Any]
    mute: str | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """A subject that has something new to say."""

    id: DeliveryId
    version: int
    project_id: ProjectId


async def write_wishes(tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Raised]:
    """Write how subjects should stand; return those to which that is to be said, by id.

    What may not be said counts as failed, and is said when that is raised again. One subject at
    most once in the list, which is written in order of connection and subject, as everybody locks
    them. An older build does not take back what a newer one said.
    """
    if not wanted:
        return ()
    in_order = sorted(wanted, key=lambda each: (each.connection_id, each.subject))
    said = insert(DeliveryRow).values(
        [
            {
                "connection_id": each.connection_id,
                "build_id": each.build_id,
                "subject": each.subject,
                "wanted": dict(each.wish),
                "state": DeliveryState.FAILED if each.mute else DeliveryState.WAITING,
                "error": each.mute,
            }
            for each in in_order
        ]
    )
    changed = said.on_conflict_do_update(
        index_elements=[DeliveryRow.connection_id, DeliveryRow.subject],
        set_={
            "build_id": said.excluded.build_id,
            "wanted": said.excluded.wanted,
            "version": DeliveryRow.version + 1,
            "state": said.excluded.state,
            "error": said.excluded.error,
            "changed_at": func.now(),
        },
        where=(DeliveryRow.wanted != said.excluded.wanted)
        & (func.coalesce(DeliveryRow.build_id, 0) <= said.excluded.build_id),
    ).returning(DeliveryRow.id, DeliveryRow.version, DeliveryRow.connection_id, DeliveryRow.state)
    rows = [row for row in await tx.execute(changed) if row.state == DeliveryState.WAITING]
    return await _raised(tx, [(row.id, row.version, row.connection_id) for row in rows])


async def lock_wishes(tx: Tx, build_id: BuildId) -> Sequence[Wanted]:
    """Return what a build last had the word on, locked in the order of everybody."""
    rows = await tx.execute(
        select(DeliveryRow.connection_id, DeliveryRow.subject, DeliveryRow.wanted)
        .where(DeliveryRow.build_id == build_id)
        .order_by(DeliveryRow.connection_id, DeliveryRow.subject)
        .with_for_update()
    )
    return [Wanted(row.connection_id, build_id, row.subject, row.wanted) for row in rows]


async def raise_again(
    tx: Tx, connection_id: ConnectionId, *, only: DeliveryId | None = None
) -> Sequence[Raised]:
    """Have one subject said again as it should stand, or all of the connection's that failed."""
    which = [DeliveryRow.connection_id == connection_id]
    failed = DeliveryRow.state == DeliveryState.FAILED
    which.append(failed if only is None else DeliveryRow.id == only)
    locked = (
        select(DeliveryRow.id)
        .where(*which)
        .order_by(DeliveryRow.connection_id, DeliveryRow.subject)
        .with_for_update()
        .cte("locked")
    )
    rows = await tx.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id.in_(select(locked.c.id)))
        .values(version=DeliveryRow.version + 1, state=DeliveryState.WAITING, error=None)
        .returning(DeliveryRow.id, DeliveryRow.version, DeliveryRow.connection_id)
    )
    return await _raised(tx, [(row.id, row.version, row.connection_id) for row in rows])


async def _raised(tx: Tx, rows: Sequence[tuple[int, int, int]]) -> Sequence[Raised]:
    projects = await tx.execute(
        select(ConnectionRow.id, ConnectionRow.project_id).where(
            ConnectionRow.id.in_({connection_id for _, _, connection_id in rows})
        )
    )
    project_of = {row.id: ProjectId(row.project_id) for row in projects}
    return [
        Raised(DeliveryId(id_), version, project_of[connection_id])
        for id_, version, connection_id in sorted(rows)
    ]


async def lock_subject(tx: Tx, delivery_id: DeliveryId) -> Subject | None:
    """Return the subject with its row locked and the database's time; None: it is gone."""
    rows = await tx.execute(
        select(
            *COLUMNS,
            DeliveryRow.wanted,
            DeliveryRow.version,
            DeliveryRow.sent_version,
            DeliveryRow.sending_job_id,
            DeliveryRow.sending_until,
            func.clock_timestamp().label("now"),
        )
        .join(ConnectionRow, ConnectionRow.id == DeliveryRow.connection_id)
        .where(DeliveryRow.id == delivery_id)
        .with_for_update(of=DeliveryRow)
    )
    row = rows.one_or_none()
    if row is None:
        return None
    return Subject(
        connection=_connection(row),
        wanted=row.wanted,
        version=row.version,
        sent_version=row.sent_version,
        turn=Turn(row.sending_job_id, row.sending_until),
        now=row.now,
    )


async def version_of(tx: Tx, delivery_id: DeliveryId) -> int | None:
    """Return the number of the subject's last wish; None: the subject is gone."""
    wanted = select(DeliveryRow.version).where(DeliveryRow.id == delivery_id)
    return (await tx.execute(wanted)).scalar_one_or_none()


async def take_turn(tx: Tx, delivery_id: DeliveryId, job_id: JobId, term: timedelta) -> None:
    """Let this job alone talk of the subject for that long; its row is locked."""
    await tx.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id)
        .values(sending_job_id=job_id, sending_until=func.clock_timestamp() + term)
    )


async def give_turn_back(tx: Tx, delivery_id: DeliveryId, job_id: JobId, error: str) -> None:
    """Say why the job did not get through this time, and let others have their turn."""
    await tx.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id, DeliveryRow.sending_job_id == job_id)
        .values(sending_job_id=None, sending_until=None, error=error)
    )


async def mark_sent(tx: Tx, delivery_id: DeliveryId, job_id: JobId, version: int) -> None:
    """Write that the version was said; a wish that came meanwhile goes on waiting."""
    is_all = DeliveryRow.version == version
    await tx.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id, DeliveryRow.sending_job_id == job_id)
        .values(
            sent_version=func.greatest(DeliveryRow.sent_version, version),
            state=_state_if(is_all, DeliveryState.SENT),
            sent_at=func.now(),
            error=None,
            sending_job_id=None,
            sending_until=None,
        )
    )


async def mark_failed(
    tx: Tx, delivery_id: DeliveryId, job_id: JobId, version: int, error: str
) -> None:
    """Write that nobody tries any more to say it, unless there is a newer wish or it was said."""
    is_it = (DeliveryRow.version == version) & (DeliveryRow.sent_version < version)
    await tx.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id)
        .where(is_it | (DeliveryRow.sending_job_id == job_id))
        .values(
            state=_state_if(is_it, DeliveryState.FAILED),
            error=error,
            sending_job_id=None,
            sending_until=None,
        )
    )


async def of_build(tx: Tx, build_id: BuildId) -> Sequence[Delivery]:
    """Return what the build last had the word on."""
    rows = await tx.execute(
        _DELIVERIES.where(DeliveryRow.build_id == build_id).order_by(
            DeliveryRow.connection_id, DeliveryRow.subject
        )
    )
    return [_delivery(row) for row in rows]


async def newest_of(
    tx: Tx, connection_ids: Sequence[ConnectionId]
) -> Mapping[ConnectionId, Delivery]:
    """Return each connection's last wish, the failed ones before the others."""
    rows = await tx.execute(
        _DELIVERIES.where(DeliveryRow.connection_id.in_(connection_ids))
        .ext(distinct_on(DeliveryRow.connection_id))
        .order_by(
            DeliveryRow.connection_id,
            DeliveryRow.state != DeliveryState.FAILED,
            DeliveryRow.changed_at.desc(),
        )
    )
    return {ConnectionId(row.connection_id): _delivery(row) for row in rows}


def _state_if(condition: ColumnElement[bool], then: DeliveryState) -> ColumnElement[str]:
    return case((condition, literal(then.value)), else_=DeliveryRow.state)


def _connection(row: Row[*tuple[Any, ...]]) -> Connection:
    kind = ConnectionKind(row.kind)
    return Connection(
        id=ConnectionId(row.id),
        project_id=ProjectId(row.project_id),
        kind=kind,
        name=row.name,
        config=from_json(kind, row.config),
        secret=row.secret,
        disabled_at=row.disabled_at,
        resting_until=row.resting_until,
    )


def _delivery(row: Row[*tuple[Any, ...]]) -> Delivery:
    return Delivery(
        id=DeliveryId(row.id),
        connection_id=ConnectionId(row.connection_id),
        connection_name=row.name,
        kind=ConnectionKind(row.kind),
        subject=row.subject,
        state=DeliveryState(row.state),
        error=row.error,
        build_number=row.number,
        changed_at=row.changed_at,
        sent_at=row.sent_at,
    )
