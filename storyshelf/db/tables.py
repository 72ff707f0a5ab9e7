"""Every table, column, index and constraint; migrations are compared with this in a test."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    UniqueConstraint,
    desc,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from storyshelf.db.base import HOT_TABLE, IS_SHA256, Base, identity, one_of, set_now


class ProjectRow(Base):
    """One Storybook under review."""

    __tablename__ = "projects"
    __table_args__ = (
        CheckConstraint("slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'", name="slug"),
        CheckConstraint("last_build_number >= 0", name="last_build_number"),
    )

    id: Mapped[int] = identity()
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    default_branch: Mapped[str] = mapped_column(server_default="main")
    options: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    last_build_number: Mapped[int] = mapped_column(Integer, server_default="0")
    created_at: Mapped[datetime] = set_now()


class TokenRow(Base):
    """A project's API token; only the sha256 of its secret is kept."""

    __tablename__ = "tokens"
    __table_args__ = (CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),)

    id: Mapped[int] = identity()
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str]
    hint: Mapped[str]  # the first characters, so that a person can tell tokens apart
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime] = set_now()
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class BlobRow(Base):
    """Content that is whole and synced in the blob storage, named by its sha256."""

    __tablename__ = "blobs"
    __table_args__ = (
        CheckConstraint(f"key {IS_SHA256}", name="key"),
        CheckConstraint("size_bytes >= 0", name="size_bytes"),
    )

    key: Mapped[str] = mapped_column(primary_key=True)
    size_bytes: Mapped[int]
    created_at: Mapped[datetime] = set_now()


class ProjectBlobRow(Base):
    """What a project itself has brought: knowing a hash is no right to another's content."""

    __tablename__ = "project_blobs"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    key: Mapped[str] = mapped_column(ForeignKey("blobs.key"), primary_key=True, index=True)
    created_at: Mapped[datetime] = set_now()


class EnvironmentRow(Base):
    """What a fingerprint stands for: browser, flags, fonts, architecture, protocol."""

    __tablename__ = "environments"

    id: Mapped[str] = mapped_column(primary_key=True)
    facts: Mapped[dict[str, Any]]
    first_seen_at: Mapped[datetime] = set_now()


class BuildRow(Base):
    """One bundle at one commit on one branch."""

    __tablename__ = "builds"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        UniqueConstraint("project_id", "idempotency_key"),
        Index("ix_builds_branch", "project_id", "branch", desc("number")),
        Index("ix_builds_unended", "created_at", postgresql_where=text("ended_at IS NULL")),
        one_of(
            "state",
            *("uploading", "queued", "planning", "capturing", "passed", "pending", "accepted"),
            *("denied", "broken", "failed", "incomplete", "cancelled", "skipped"),
        ),
        CheckConstraint(
            "(ended_at IS NULL) = (state IN ('uploading', 'queued', 'planning', 'capturing'))",
            name="ended_when_over",
        ),
        CheckConstraint("open_shards >= 0", name="open_shards"),
        CheckConstraint("generation >= 1", name="generation"),
        CheckConstraint("state <> 'capturing' OR planned_at IS NOT NULL", name="planned_first"),
        CheckConstraint("(planned_generation IS NULL) = (planned_at IS NULL)", name="planned_when"),
    )

    id: Mapped[int] = identity()
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    number: Mapped[int] = mapped_column(Integer)
    idempotency_key: Mapped[str]
    branch: Mapped[str]
    commit: Mapped[str]
    message: Mapped[str | None]
    author: Mapped[str | None]
    state: Mapped[str] = mapped_column(server_default="uploading")
    state_reason: Mapped[str | None]
    generation: Mapped[int] = mapped_column(Integer, server_default="1")
    planned_generation: Mapped[int | None] = mapped_column(Integer)  # whose snapshots count
    open_shards: Mapped[int] = mapped_column(Integer, server_default="0")
    plan_job_id: Mapped[int | None]
    finalise_job_id: Mapped[int | None]
    ancestor_build_id: Mapped[int | None] = mapped_column(ForeignKey("builds.id"))
    rule: Mapped[str | None]  # the rule that decided the whole build, such as `first build`
    environment_id: Mapped[str | None] = mapped_column(ForeignKey("environments.id"))
    created_at: Mapped[datetime] = set_now()
    sealed_at: Mapped[datetime | None]
    planned_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class BundleFileRow(Base):
    """One line of a build's manifest."""

    __tablename__ = "bundle_files"
    __table_args__ = (
        CheckConstraint(f"key {IS_SHA256}", name="key"),
        Index(None, "key", "build_id"),  # both: else each file sent reads its whole manifest
    )

    build_id: Mapped[int] = mapped_column(ForeignKey("builds.id"), primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str]  # no reference to blobs: the file may still be on its way
    size_bytes: Mapped[int]


class ShardRow(Base):
    """Planned snapshots that one capture job takes."""

    __tablename__ = "shards"
    __table_args__ = (
        UniqueConstraint("build_id", "generation", "number"),
        Index("ix_shards_job_id", "job_id"),
        one_of("state", "open", "done", "failed", "cancelled"),
        CheckConstraint("(closed_at IS NULL) = (state = 'open')", name="closed_when_over"),
    )

    id: Mapped[int] = identity()
    build_id: Mapped[int] = mapped_column(ForeignKey("builds.id"))
    generation: Mapped[int] = mapped_column(Integer)
    number: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(server_default="open")
    job_id: Mapped[int | None]
    stories: Mapped[int] = mapped_column(Integer)
    rounds_without_result: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    error: Mapped[str | None]
    opened_at: Mapped[datetime] = set_now()
    closed_at: Mapped[datetime | None]


class SnapshotRow(Base):
    """One picture of a build: how it was to be made, what came out, what was decided."""

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("build_id", "generation", "story_id", "mode", "browser"),
        Index("ix_snapshots_shard", "shard_id"),
        Index("ix_snapshots_verdict", "build_id", "generation", "verdict", "id"),
        Index("ix_snapshots_captured", "build_id", "captured_at"),
        Index("ix_snapshots_image", "image_key"),
        one_of(
            "verdict",
            *("planned", "unchanged", "changed", "added", "removed", "inherited"),
            *("errored", "unstable", "skipped"),
        ),
        one_of("decision", "none", "accepted", "denied"),
        CheckConstraint("(decision = 'none') = (decided_at IS NULL)", name="decided_when"),
        CheckConstraint(
            "verdict NOT IN ('changed', 'added', 'unstable') OR image_key IS NOT NULL",
            name="pictured",
        ),
        CheckConstraint("verdict <> 'errored' OR error IS NOT NULL", name="explained"),
        CheckConstraint("verdict <> 'planned' OR captured_at IS NULL", name="captured_once"),
    )

    id: Mapped[int] = identity()
    build_id: Mapped[int] = mapped_column(ForeignKey("builds.id"))
    generation: Mapped[int] = mapped_column(Integer)
    story_id: Mapped[str]
    mode: Mapped[str]
    browser: Mapped[str]
    title: Mapped[str]  # the component's title, such as `Forms/Button`
    name: Mapped[str]  # the story's name
    import_path: Mapped[str]
    options: Mapped[dict[str, Any]]  # see snapshots.snapshot.CaptureOptions
    shard_id: Mapped[int | None] = mapped_column(ForeignKey("shards.id"))
    crashes: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    verdict: Mapped[str] = mapped_column(server_default="planned")
    reason: Mapped[str]
    baseline_snapshot_id: Mapped[int | None] = mapped_column(ForeignKey("snapshots.id"))
    baseline_reason: Mapped[str]
    effective_snapshot_id: Mapped[int | None] = mapped_column(ForeignKey("snapshots.id"))
    decision: Mapped[str] = mapped_column(server_default="none")
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    image_key: Mapped[str | None] = mapped_column(ForeignKey("blobs.key"))
    width_px: Mapped[int | None] = mapped_column(Integer)
    height_px: Mapped[int | None] = mapped_column(Integer)
    diff: Mapped[dict[str, Any] | None]  # counts, regions, engine: see snapshots.snapshot.Diff
    mask_key: Mapped[str | None] = mapped_column(ForeignKey("blobs.key"))
    frames: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))  # of an unstable one
    error: Mapped[dict[str, Any] | None]  # code, message, stack
    warnings: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))
    timings_ms: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    duration_ms: Mapped[int | None] = mapped_column(Integer)
    environment_id: Mapped[str | None] = mapped_column(ForeignKey("environments.id"))
    captured_at: Mapped[datetime | None]


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
        one_of("state", "queued", "deferred", "running"),
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
    payload: Mapped[dict[str, Any]]


class JobDoneRow(Base):
    """The cold table: one row per ended job."""

    __tablename__ = "jobs_done"
    __table_args__ = (
        Index(None, "build_id"),
        Index(None, "project_id", "finished_at"),
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
    started_at: Mapped[datetime] = set_now()
    beat_at: Mapped[datetime] = set_now()


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
