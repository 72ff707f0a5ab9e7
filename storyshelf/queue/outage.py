"""Which database errors pass by themselves, so that the same statement may succeed later."""

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

PASSING_CLASSES = frozenset({"08", "53", "57"})  # connection, resources, operator intervention
PASSING_STATES = frozenset(
    {
        "40001",  # serialization failure
        "40P01",  # deadlock: the other one got through
        "55P03",  # lock timeout
        "25P03",  # idle in transaction for too long
    }
)
QUERY_CANCELLED = "57014"  # by the statement timeout, which is set to what a lease allows


def may_pass(error: BaseException) -> bool:
    """Say whether the failure is of the moment and not of the statement."""
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or _is_passing(_state(error.orig)) or _broke(error.orig)
    return _broke(error) or _is_passing(_state(error))


def was_too_slow(error: BaseException) -> bool:
    """Say whether it took longer than it may, so that less at once may succeed at once."""
    found = error.orig if isinstance(error, DBAPIError) else error
    return isinstance(found, TimeoutError) or _state(found) == QUERY_CANCELLED


def _broke(error: BaseException | None) -> bool:
    seen = (error, error.__cause__ if error is not None else None)
    return any(isinstance(e, OSError | PoolTimeoutError | asyncpg.InterfaceError) for e in seen)


def _state(error: BaseException | None) -> str:
    return str(getattr(error, "sqlstate", None) or "")


def _is_passing(state: str) -> bool:
    return state[:2] in PASSING_CLASSES or state in PASSING_STATES
