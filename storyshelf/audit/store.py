"""All SQL of audit events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert

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
