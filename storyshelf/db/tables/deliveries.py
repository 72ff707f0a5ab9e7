"""Where verdicts go, and what was said there; and who did what."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from storyshelf.db.base import Base, identity, one_of, set_now


class ConnectionRow(Base):
    """Where a project's verdicts are delivered: a forge, or whoever takes a webhook."""

    __tablename__ = "connections"
    __table_args__ = (one_of("kind", "github", "gitlab", "webhook"),)

    id: Mapped[int] = identity()
    project_id: Mapped[int] = mapped_column(
        ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    kind: Mapped[str]
    name: Mapped[str]
    config: Mapped[dict[str, Any]]
    secret: Mapped[bytes]  # sealed: see auth.secrets
    created_at: Mapped[datetime] = set_now()
    disabled_at: Mapped[datetime | None]
    resting_until: Mapped[datetime | None]  # the other end asked to be left alone until then


class DeliveryRow(Base):
    """What one subject of a connection is to say; a later wish takes the place of an earlier.

    `version` rises with each wish, `sent_version` follows it; a subject is one commit's context, or
    one pull request's comment.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("connection_id", "subject"),
        Index(None, "build_id"),
        CheckConstraint("sent_version BETWEEN 0 AND version", name="sent_version"),
        one_of("state", "waiting", "sent", "failed"),
    )

    id: Mapped[int] = identity()
    connection_id: Mapped[int] = mapped_column(ForeignKey("connections.id", ondelete="CASCADE"))
    build_id: Mapped[int | None] = mapped_column(
        ForeignKey("builds.id", ondelete="SET NULL")
    )  # who wished last
    subject: Mapped[str]
    wanted: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(Integer, server_default="1")
    sent_version: Mapped[int] = mapped_column(Integer, server_default="0")
    state: Mapped[str] = mapped_column(server_default="waiting")
    sending_job_id: Mapped[int | None]  # the one job that may talk of it to the other end,
    sending_until: Mapped[datetime | None]  # and until when
    error: Mapped[str | None]
    changed_at: Mapped[datetime] = set_now()
    sent_at: Mapped[datetime | None]


class AuditEventRow(Base):
    """Who did what to what, kept for people."""

    __tablename__ = "audit_events"
    __table_args__ = (Index(None, "project_id", "at"),)

    id: Mapped[int] = identity()
    at: Mapped[datetime] = set_now()
    actor: Mapped[str]
    action: Mapped[str]
    project_id: Mapped[int | None]
    build_id: Mapped[int | None]
    detail: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
