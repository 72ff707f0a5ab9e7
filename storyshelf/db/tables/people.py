"""People, what they may do, and how they are known; projects and their tokens."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Integer,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from storyshelf.db.base import Base, identity, one_of, set_now


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
    deleting_at: Mapped[datetime | None]  # from then on nobody sees it; its rows go one by one


class TokenRow(Base):
    """A project's API token; only the sha256 of its secret is kept."""

    __tablename__ = "tokens"
    __table_args__ = (CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),)

    id: Mapped[int] = identity()
    project_id: Mapped[int] = mapped_column(
        ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    name: Mapped[str]
    hint: Mapped[str]  # the first characters, so that a person can tell tokens apart
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime] = set_now()
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class UserRow(Base):
    """A person who signs in; without a password, by a link alone."""

    __tablename__ = "users"
    __table_args__ = (CheckConstraint("email = lower(email)", name="email"),)

    id: Mapped[int] = identity()
    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    password_hash: Mapped[str | None]
    is_admin: Mapped[bool] = mapped_column(server_default=text("false"))  # of the whole server
    created_at: Mapped[datetime] = set_now()
    disabled_at: Mapped[datetime | None]


class SessionRow(Base):
    """One browser that is signed in; only the sha256 of its cookie is kept."""

    __tablename__ = "sessions"
    __table_args__ = (CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),)

    id: Mapped[int] = identity()
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    user_agent: Mapped[str]
    created_at: Mapped[datetime] = set_now()
    last_used_at: Mapped[datetime] = set_now()
    idle: Mapped[timedelta]  # it is over when it was not used for so long, or at `expires_at`
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class SignInLinkRow(Base):
    """A link that signs somebody in once."""

    __tablename__ = "sign_in_links"
    __table_args__ = (CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),)

    id: Mapped[int] = identity()
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime] = set_now()
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class MemberRow(Base):
    """What a person may do in a project."""

    __tablename__ = "members"
    __table_args__ = (one_of("role", "viewer", "developer", "reviewer", "admin"),)

    project_id: Mapped[int] = mapped_column(
        ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[str]
    added_at: Mapped[datetime] = set_now()
