"""Keyset paging: a cursor names the last row that was seen, so pages neither skip nor repeat."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, Field

from storyshelf.errors import BadInputError

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_T = TypeVar("_T")


class After(BaseModel):
    """Where a list goes on."""

    after: str | None = Field(None, max_length=4_000, description="`next` of the page before")


class PageQuery(After):
    """The part of a query that every list of the API takes."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="Most rows to return")


class BadCursorError(BadInputError):
    """A cursor that no page gave out."""

    def __init__(self) -> None:
        super().__init__(
            "The cursor in `after` is not one of ours",
            next_step="Pass the `next` of the page before, or leave it out.",
        )


def cursor_of(*values: str | int) -> str:
    """Return the cursor of a row with these keys."""
    return urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def parse_cursor(cursor: str, *types: type[str | int]) -> tuple[str | int, ...]:
    """Return the keys in a cursor; raises BadCursorError unless they are of these types."""
    try:
        values = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError) as error:  # not even JSON, or deeper than anybody writes
        raise BadCursorError from error
    if not isinstance(values, list) or [type(value) for value in values] != list(types):
        raise BadCursorError
    return tuple(values)


def moment_cursor(at: datetime, row_id: int) -> str:
    """Return the cursor of a row in a list by time."""
    return cursor_of(at.isoformat(), row_id)


def parse_moment(cursor: str | None) -> tuple[datetime, int] | None:
    """Return the time and id in a cursor, None without one; raises BadCursorError."""
    if cursor is None:
        return None
    text, row_id = parse_cursor(cursor, str, int)
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise BadCursorError from error
    if at.tzinfo is None:
        raise BadCursorError
    return at, int(row_id)


def page_of(
    found: Sequence[_T], limit: int, cursor: Callable[[_T], str]
) -> tuple[Sequence[_T], str | None]:
    """Return the page of rows that were read with one more, and where the list goes on."""
    here = found[:limit]
    return here, cursor(here[-1]) if len(found) > limit else None
