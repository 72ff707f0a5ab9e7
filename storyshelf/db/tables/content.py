"""Content by its hash, and who has brought it."""

from datetime import datetime

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
)
from sqlalchemy.orm import Mapped, mapped_column

from storyshelf.db.base import IS_SHA256, Base, set_now


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
    used_at: Mapped[datetime] = set_now()  # renewed by whoever is about to name it anew


class ProjectBlobRow(Base):
    """What a project itself has brought: knowing a hash is no right to another's content."""

    __tablename__ = "project_blobs"

    project_id: Mapped[int] = mapped_column(
        ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(ForeignKey("blobs.key"), primary_key=True, index=True)
    created_at: Mapped[datetime] = set_now()
