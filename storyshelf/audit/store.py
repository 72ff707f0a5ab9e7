"""All SQL of audit events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, tuple_

from storyshelf.db.engine import Tx
from storyshelf.db.tables import AuditEventRow
from storyshelf.ids import BuildId, ProjectId


@dataclass(frozen=True, slots=True)
class Event:
    """Somebody did something; `action` is a dotted verb such as `build.cancel`."""

    actor: str
    action: str
    project_id: ProjectId | None = None
    build_id: BuildId | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


async def record(tx: Tx, event: Event) -> None:
    """Write the event in the transaction of what it tells about."""
    await tx.execute(
        insert(AuditEventRow).values(
            actor=event.actor,
            action=event.action,
            project_id=event.project_id,
            build_id=event.build_id,
            detail=dict(event.detail),
        )
    )


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """An event with its place in the order of what happened."""

    id: int
    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a list shows: of a project, or of none; texts are parts of actor and action."""

    project_id: ProjectId | None
    actor: str = ""
    action: str = ""


async def page(
    tx: Tx, shown: EventFilter, *, before: tuple[datetime, int] | None, limit: int
) -> Sequence[KeptEvent]:
    """Return events, the latest first, from before the given time and id."""
    wanted = [AuditEventRow.project_id == shown.project_id]  # of None it becomes IS NULL
    if shown.actor:
        wanted.append(AuditEventRow.actor.icontains(shown.actor, autoescape=True))
    if shown.action:
        wanted.append(AuditEventRow.action.icontains(shown.action, autoescape=True))
    if before is not None:
        wanted.append(tuple_(AuditEventRow.at, AuditEventRow.id) < before)
    rows = await tx.execute(
        select(AuditEventRow)
        .where(*wanted)
        .order_by(AuditEventRow.at.desc(), AuditEventRow.id.desc())
        .limit(limit)
    )
    return [
        KeptEvent(
            row.id,
            row.at,
            Event(row.actor, row.action, row.project_id, row.build_id, row.detail),
        )
        for row in rows
    ]
