"""What makes a queue slow without anybody's fault: dead rows, and who keeps them from going."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx

# Who began the transaction that holds back the horizon of vacuum longest. Of another role's
# sessions PostgreSQL tells nothing to a role that may not read all statistics.
BLOAT = text("""
SELECT s.n_live_tup AS live_rows, s.n_dead_tup AS dead_rows,
    pg_table_size(s.relid) AS table_bytes, pg_indexes_size(s.relid) AS index_bytes,
    statement_timestamp() - greatest(s.last_vacuum, s.last_autovacuum) AS vacuumed_ago,
    o.pid, o.application_name, o.state, o.age
FROM pg_stat_user_tables AS s
LEFT JOIN LATERAL (
    SELECT pid, application_name, state, statement_timestamp() - xact_start AS age
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
        AND backend_type IN ('client backend', 'walsender')
    ORDER BY xact_start LIMIT 1
) AS o ON true
WHERE s.relid = CAST('jobs' AS regclass)
""")


@dataclass(frozen=True, slots=True)
class OldTransaction:
    """An open transaction: what was deleted since it began cannot be cleared away."""

    pid: int
    application: str
    state: str
    age: timedelta


@dataclass(frozen=True, slots=True)
class Bloat:
    """How the hot table stands; rows are PostgreSQL's own estimates."""

    live_rows: int
    dead_rows: int
    table_bytes: int
    index_bytes: int
    vacuumed_ago: timedelta | None  # None: never
    oldest: OldTransaction | None


async def bloat(tx: Tx) -> Bloat:
    """Return how many dead rows the hot table holds, and what may be the reason."""
    row = (await tx.execute(BLOAT)).one()
    oldest = None
    if row.pid is not None and row.age is not None:
        oldest = OldTransaction(row.pid, row.application_name or "", row.state or "", row.age)
    return Bloat(
        live_rows=row.live_rows,
        dead_rows=row.dead_rows,
        table_bytes=row.table_bytes,
        index_bytes=row.index_bytes,
        vacuumed_ago=row.vacuumed_ago,
        oldest=oldest,
    )
