"""Running the service: who leads, what was done on time, alarms, and the figures of jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from storyshelf.db.base import Base, one_of, set_now


class LeaderRow(Base):
    """Who may do what one process does for all, and until when."""

    __tablename__ = "leaders"

    name: Mapped[str] = mapped_column(primary_key=True)
    holder: Mapped[str]
    term: Mapped[int]  # rises with each take-over
    expires_at: Mapped[datetime]


class TickRow(Base):
    """A periodic task's tick that was run, with how many before it were skipped."""

    __tablename__ = "ticks"

    task: Mapped[str] = mapped_column(primary_key=True)
    tick: Mapped[datetime] = mapped_column(primary_key=True)
    skipped: Mapped[int] = mapped_column(Integer, server_default="0")
    term: Mapped[int | None]
    ran_at: Mapped[datetime] = set_now()


class AlarmRow(Base):
    """Something that must never happen and did: how often, and when last."""

    __tablename__ = "alarms"

    name: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    first_at: Mapped[datetime] = set_now()
    last_at: Mapped[datetime] = set_now()
    detail: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))


class JobMetricRow(Base):
    """Attempts of one kind and outcome that ended in a minute, an hour or a day."""

    __tablename__ = "job_metrics"
    __table_args__ = (one_of("width", "minute", "hour", "day"),)

    width: Mapped[str] = mapped_column(primary_key=True)
    start_at: Mapped[datetime] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    outcome: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    attempts: Mapped[int]  # the sum of their attempt numbers
    wait_ms: Mapped[int]
    run_ms: Mapped[int]
    wait_histogram: Mapped[list[Any]] = mapped_column(ARRAY(BigInteger))
    run_histogram: Mapped[list[Any]] = mapped_column(ARRAY(BigInteger))


class MetricFlushRow(Base):
    """A flush of metrics that went through: a repeated one is counted once."""

    __tablename__ = "metric_flushes"
    __table_args__ = (Index(None, "flushed_at"),)

    nonce: Mapped[UUID] = mapped_column(primary_key=True)  # of the process
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    flushed_at: Mapped[datetime] = set_now()


class LaneSampleRow(Base):
    """What was on a class of a lane in a minute."""

    __tablename__ = "lane_samples"

    minute: Mapped[datetime] = mapped_column(primary_key=True)
    lane: Mapped[str] = mapped_column(primary_key=True)
    priority: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    queued: Mapped[int]
    deferred: Mapped[int]
    parked: Mapped[int]
    running: Mapped[int]
    oldest_s: Mapped[float | None]
