"""The declarative base, and the few shapes that many columns and constraints share."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Identity, LargeBinary, MetaData, Text, func
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
IS_SHA256 = "~ '^[0-9a-f]{64}$'"
# A queue table lives by its vacuum: these beat an operator's global settings, which are the usual
# cause of a bloated queue.
HOT_TABLE = {
    "postgresql_with": {
        "fillfactor": "85",
        "autovacuum_vacuum_scale_factor": "0.01",
        "autovacuum_vacuum_threshold": "500",
        "autovacuum_vacuum_cost_delay": "0",
    }
}


class Base(DeclarativeBase):
    """Types by annotation: text is TEXT, a time is timestamptz, a dict is jsonb."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {  # noqa: RUF012  # the shape SQLAlchemy asks for
        str: Text,
        int: BigInteger,
        datetime: postgresql.TIMESTAMP(timezone=True),
        timedelta: postgresql.INTERVAL(),
        dict[str, Any]: postgresql.JSONB(none_as_null=True),  # None is no value, not a null in it
        list[Any]: postgresql.JSONB(none_as_null=True),
        list[str]: postgresql.ARRAY(Text),
        UUID: postgresql.UUID(as_uuid=True),
        bytes: LargeBinary,
    }


def identity() -> Mapped[int]:
    """Return a primary key that the database gives out."""
    return mapped_column(BigInteger, Identity(always=True), primary_key=True)


def set_now() -> Mapped[datetime]:
    """Return a time that is the database's own when the row is made."""
    return mapped_column(server_default=func.now())


def one_of(column: str, *words: str) -> CheckConstraint:
    """Return the constraint that the column holds one of the words."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=column)
