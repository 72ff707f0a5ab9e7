"""The queue: work, its attempts, and who does it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    desc,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from storyshelf.db.base import HOT_TABLE, Base, identity, one_of, set_now


class JobRow(Base):
    """The hot table: work that is not finished. A settle moves the row to `jobs_done`."""

    __tablename__ = "jobs"
    __table_args__ = (
        # One partial index per question. The expiry of a lease is in none, so renewals stay HOT.
        Index(
            "ix_jobs_ready",
            *("lane", desc("priority"), "fair_tag", "id"),
            postgresql_where=text("state = 'queued'"),
        ),
        Index("ix_jobs_due", "run_at", postgresql_where=text("state = 'deferred'")),
        Index("ix_jobs_running", "id", postgresql_where=text("state = 'running'")),
        Index(
            "uq_jobs_dedupe_key",
            "dedupe_key",
            unique=True,
            postgresql_where=text("dedupe_key IS NOT NULL"),
        ),
        Index("ix_jobs_build_id", "build_id", postgresql_where=text("build_id IS NOT NULL")),
        Index(
            "ix_jobs_parked",
            *("project_id", desc("priority"), "fair_tag", "id"),
            postgresql_where=text("state = 'parked'"),
        ),
        Index(
            "ix_jobs_capped",
            "project_id",
            postgresql_where=text("capped AND state <> 'parked'"),
        ),
        one_of("state", "queued", "deferred", "parked", "running"),
        CheckConstraint(
            "(state = 'running') = (lease_token IS NOT NULL)"
            " AND (state = 'running') = (lease_expires_at IS NOT NULL)"
            " AND (state = 'running') = (consumer_id IS NOT NULL)",
            name="leased_when_running",
        ),
        CheckConstraint("charged BETWEEN 0 AND attempt", name="charged"),
        CheckConstraint("max_attempts >= 1", name="max_attempts"),
        CheckConstraint("priority IN (0, 10, 20)", name="priority"),
        # One row that no claim can read would undo every claim that takes it, and so stop its lane.
        CheckConstraint("jsonb_typeof(payload) = 'object'", name="payload"),
        HOT_TABLE,
    )

    id: Mapped[int] = identity()
    project_id: Mapped[int | None]
    build_id: Mapped[int | None]
    fair_tag: Mapped[int]
    run_at: Mapped[datetime] = set_now()
    enqueued_at: Mapped[datetime] = set_now()
    started_at: Mapped[datetime | None]  # of the first attempt
    attempt_started_at: Mapped[datetime | None]
    progress_at: Mapped[datetime | None]
    lease_expires_at: Mapped[datetime | None]
    cancel_requested_at: Mapped[datetime | None]
    release_requested_at: Mapped[datetime | None]
    lease_token: Mapped[UUID | None]
    last_token: Mapped[UUID | None]
    generation: Mapped[int] = mapped_column(Integer, server_default="0")
    priority: Mapped[int] = mapped_column(SmallInteger, server_default="10")
    attempt: Mapped[int] = mapped_column(SmallInteger, server_default="0")  # only rises
    charged: Mapped[int] = mapped_column(SmallInteger, server_default="0")  # what the limit counts
    max_attempts: Mapped[int] = mapped_column(SmallInteger)
    state: Mapped[str] = mapped_column(server_default="queued")
    kind: Mapped[str]
    lane: Mapped[str]
    consumer_id: Mapped[str | None]
    dedupe_key: Mapped[str | None]
    last_error: Mapped[str | None]
    request_id: Mapped[str | None]  # of the request that began it, for logs
    traceparent: Mapped[str | None]  # W3C trace context, as the upload brought it
    capped: Mapped[bool] = mapped_column(server_default=text("false"))  # by its project's share
    payload: Mapped[dict[str, Any]]


class JobDoneRow(Base):
    """The cold table: one row per ended job."""

    __tablename__ = "jobs_done"
    __table_args__ = (
        Index(None, "build_id", postgresql_where=text("build_id IS NOT NULL")),
        Index(None, "project_id", "finished_at", postgresql_where=text("project_id IS NOT NULL")),
        Index(
            "ix_jobs_done_failed",
            *(desc("finished_at"), desc("id")),
            postgresql_where=text("state = 'failed'"),
        ),
        Index("ix_jobs_done_finished_at", "finished_at", postgresql_using="brin"),
        one_of("state", "done", "failed", "cancelled"),
        one_of("outcome", *("completed", "failed", "cancelled", "dropped", "unhandled", "crashed")),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    lane: Mapped[str]
    generation: Mapped[int] = mapped_column(Integer)
    project_id: Mapped[int | None]
    build_id: Mapped[int | None]
    priority: Mapped[int] = mapped_column(SmallInteger)
    state: Mapped[str]
    outcome: Mapped[str]
    error: Mapped[str | None]
    attempt: Mapped[int] = mapped_column(SmallInteger)
    charged: Mapped[int] = mapped_column(SmallInteger)
    max_attempts: Mapped[int] = mapped_column(SmallInteger)
    consumer_id: Mapped[str | None]
    lease_token: Mapped[UUID | None]  # of the settle, so that a lost answer can be recognised
    last_token: Mapped[UUID | None]
    dedupe_key: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    enqueued_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime] = set_now()
    wait_ms: Mapped[int | None]
    run_ms: Mapped[int | None]


class JobAttemptRow(Base):
    """One ended try at a job, written by the statement that ended it."""

    __tablename__ = "job_attempts"
    __table_args__ = (
        one_of(
            "outcome",
            *("completed", "retried", "failed", "unhandled", "dropped", "lost", "cancelled"),
            *("released", "crashed"),
        ),
    )

    job_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempt: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    consumer_id: Mapped[str | None]
    lease_token: Mapped[UUID | None]
    outcome: Mapped[str]
    error: Mapped[str | None]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime] = set_now()


class LaneTagRow(Base):
    """The largest start tag given to a project on a lane and class: fairness is decided here."""

    __tablename__ = "lane_tags"

    lane: Mapped[str] = mapped_column(primary_key=True)
    priority: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    project_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # 0: none
    last_tag: Mapped[int]


class RunningCapRow(Base):
    """How many jobs of a project are let onto the capture lanes at once; no row: no cap."""

    __tablename__ = "running_caps"
    __table_args__ = (CheckConstraint("most >= 1", name="most"),)

    project_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    most: Mapped[int] = mapped_column(Integer)


class ConsumerRow(Base):
    """A live or lately lived consumer process."""

    __tablename__ = "consumers"
    __table_args__ = (one_of("state", "running", "quiet", "stopping"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int] = mapped_column(Integer)
    version: Mapped[str]
    state: Mapped[str] = mapped_column(server_default="running")
    lanes: Mapped[list[str]]
    kinds: Mapped[list[str]]
    environment_id: Mapped[str | None] = mapped_column(ForeignKey("environments.id"))
    running: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))
    machine: Mapped[str] = mapped_column(server_default="")  # its kernel's boot and pid namespace
    process_started: Mapped[int] = mapped_column(
        server_default=text("0")
    )  # in ticks since that boot
    slots: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))  # a lane
    started_at: Mapped[datetime] = set_now()
    beat_at: Mapped[datetime] = set_now()
