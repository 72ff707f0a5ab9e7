"""Builds: what was uploaded, how it is cut, and what came out."""

from datetime import datetime
from typing import Any

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

from storyshelf.db.base import IS_SHA256, Base, identity, one_of, set_now


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
        Index(
            "ix_builds_pending",
            *("project_id", desc("number")),
            postgresql_where=text("state = 'pending'"),
        ),
        Index("ix_builds_unended", "created_at", postgresql_where=text("ended_at IS NULL")),
        Index(
            "ix_builds_ancestor",
            "ancestor_build_id",
            postgresql_where=text("ancestor_build_id IS NOT NULL"),
        ),
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
    pull_request: Mapped[int | None] = mapped_column(Integer)
    ci: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))  # where it was made
    state: Mapped[str] = mapped_column(server_default="uploading")
    state_reason: Mapped[str | None]
    generation: Mapped[int] = mapped_column(Integer, server_default="1")
    planned_generation: Mapped[int | None] = mapped_column(Integer)  # whose snapshots count
    open_shards: Mapped[int] = mapped_column(Integer, server_default="0")
    plan_job_id: Mapped[int | None]
    finalise_job_id: Mapped[int | None]
    ancestor_build_id: Mapped[int | None] = mapped_column(ForeignKey("builds.id"))
    deleted_ancestor: Mapped[int | None] = mapped_column(Integer)  # the number it had
    rule: Mapped[str | None]  # the rule that decided the whole build, such as `first build`
    environment_id: Mapped[str | None] = mapped_column(ForeignKey("environments.id"))
    request_id: Mapped[str | None]  # of the upload, for logs
    traceparent: Mapped[str | None]  # W3C trace context, as the upload brought it
    replans: Mapped[int] = mapped_column(Integer, server_default="0")  # its environment was gone
    replan_reason: Mapped[str | None]  # of the last one
    warnings: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))  # texts of planning
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

    build_id: Mapped[int] = mapped_column(
        ForeignKey("builds.id", ondelete="CASCADE"), primary_key=True
    )
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
    build_id: Mapped[int] = mapped_column(ForeignKey("builds.id", ondelete="CASCADE"))
    generation: Mapped[int] = mapped_column(Integer)
    number: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(server_default="open")
    job_id: Mapped[int | None]
    stories: Mapped[int] = mapped_column(Integer)
    rounds_without_result: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    error: Mapped[str | None]
    opened_at: Mapped[datetime] = set_now()
    closed_at: Mapped[datetime | None]


class OrderDependenceRow(Base):
    """A story of a project whose picture depended on what was shown before it in the same page."""

    __tablename__ = "order_dependences"

    project_id: Mapped[int] = mapped_column(
        ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True
    )
    story_id: Mapped[str] = mapped_column(primary_key=True)
    mode: Mapped[str] = mapped_column(primary_key=True)
    times: Mapped[int] = mapped_column(Integer)
    suspect: Mapped[str]  # the story shown before
    left_behind: Mapped[list[str]]
    seen_at: Mapped[datetime] = set_now()


class BuildProgressRow(Base):
    """How a build that is captured moves, as it was last sampled."""

    __tablename__ = "build_progress"
    __table_args__ = (Index(None, "next_sample_at"),)

    build_id: Mapped[int] = mapped_column(
        ForeignKey("builds.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    generation: Mapped[int] = mapped_column(Integer)
    remaining: Mapped[int] = mapped_column(Integer)  # snapshots that are still planned
    running: Mapped[int] = mapped_column(Integer)  # shards that consumers hold
    never_started: Mapped[int] = mapped_column(Integer)  # open shards that nobody has begun
    rate_per_s: Mapped[float | None]
    low_s: Mapped[float | None]
    likely_s: Mapped[float | None]
    high_s: Mapped[float | None]
    sampled_at: Mapped[datetime] = set_now()
    next_sample_at: Mapped[datetime]
    dispatched_at: Mapped[datetime | None]  # when dropped shards were last dispatched again


class SnapshotRow(Base):
    """One picture of a build: how it was to be made, what came out, what was decided."""

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("build_id", "generation", "story_id", "mode", "browser"),
        Index("ix_snapshots_shard", "shard_id"),
        Index("ix_snapshots_verdict", "build_id", "generation", "verdict", "id"),
        Index("ix_snapshots_captured", "build_id", "captured_at"),
        Index("ix_snapshots_image", "image_key"),
        # Who still names a blob, and who a snapshot: each is asked when one of them is to go.
        Index("ix_snapshots_mask", "mask_key", postgresql_where=text("mask_key IS NOT NULL")),
        Index(
            "ix_snapshots_frames",
            "frames",
            postgresql_using="gin",
            postgresql_where=text("frames <> '{}'"),
        ),
        Index("ix_snapshots_baseline", "baseline_snapshot_id"),
        Index("ix_snapshots_effective", "effective_snapshot_id"),
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
    build_id: Mapped[int] = mapped_column(ForeignKey("builds.id", ondelete="CASCADE"))
    generation: Mapped[int] = mapped_column(Integer)
    story_id: Mapped[str]
    mode: Mapped[str]
    browser: Mapped[str]
    title: Mapped[str]  # the component's title, such as `Forms/Button`
    name: Mapped[str]  # the story's name
    import_path: Mapped[str]
    options: Mapped[dict[str, Any]]  # see snapshots.snapshot.CaptureOptions
    shard_id: Mapped[int | None] = mapped_column(ForeignKey("shards.id", ondelete="CASCADE"))
    crashes: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    verdict: Mapped[str] = mapped_column(server_default="planned")
    reason: Mapped[str]
    baseline_snapshot_id: Mapped[int | None] = mapped_column(
        ForeignKey("snapshots.id", ondelete="SET NULL")
    )
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
    ignored: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))  # x, y, width, height
    frames: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))  # of an unstable one
    error: Mapped[dict[str, Any] | None]  # code, message, stack
    warnings: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))
    console: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))  # level, text
    accessibility: Mapped[dict[str, Any] | None]  # see snapshots.violations.Findings
    violations: Mapped[int | None] = mapped_column(Integer)  # None: nobody looked, or it failed
    new_violations: Mapped[int | None] = mapped_column(Integer)  # None: nothing to compare with
    fixed_violations: Mapped[int | None] = mapped_column(Integer)
    timings_ms: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    duration_ms: Mapped[int | None] = mapped_column(Integer)
    environment_id: Mapped[str | None] = mapped_column(ForeignKey("environments.id"))
    captured_at: Mapped[datetime | None]


class SteadinessRow(Base):
    """How still a snapshot's story held in the captures so far, whatever build they were of."""

    __tablename__ = "steadiness"
    __table_args__ = (
        one_of("level", "first", "pair", "again", "never"),
        Index(
            "ix_steadiness_flakiness",
            *("project_id", "flakiness"),
            postgresql_where=text("flakiness > 0"),
        ),
    )

    project_id: Mapped[int] = mapped_column(
        ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True
    )
    story_id: Mapped[str] = mapped_column(primary_key=True)
    mode: Mapped[str] = mapped_column(primary_key=True)
    browser: Mapped[str] = mapped_column(primary_key=True)
    level: Mapped[str]  # of the latest capture, see snapshots.steadiness.Level
    captures: Mapped[int] = mapped_column(Integer)
    needed_more: Mapped[int] = mapped_column(Integer)
    unstable: Mapped[int] = mapped_column(Integer)
    flakiness: Mapped[float]  # 0 to 1
    seen_at: Mapped[datetime] = set_now()


class TraceRow(Base):
    """A recording of one more capture of a snapshot's story, wished by somebody."""

    __tablename__ = "traces"
    __table_args__ = (
        Index("ix_traces_job_id", "job_id"),
        Index("ix_traces_blob", "blob_key", postgresql_where=text("blob_key IS NOT NULL")),
        one_of("state", "wished", "recorded", "failed"),
        CheckConstraint("(ended_at IS NULL) = (state = 'wished')", name="ended_when_over"),
        CheckConstraint(
            "(state = 'recorded') = (blob_key IS NOT NULL AND size_bytes IS NOT NULL)",
            name="recorded_what",
        ),
    )

    snapshot_id: Mapped[int] = mapped_column(
        ForeignKey("snapshots.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    state: Mapped[str] = mapped_column(server_default="wished")
    job_id: Mapped[int]
    blob_key: Mapped[str | None] = mapped_column(ForeignKey("blobs.key"))
    size_bytes: Mapped[int | None]
    note: Mapped[str]  # how the story ended in it, or why there is none
    wished_by: Mapped[str]
    wished_at: Mapped[datetime] = set_now()
    ended_at: Mapped[datetime | None]
