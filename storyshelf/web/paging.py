"""Keyset paging: a cursor names the last row that was seen, so pages neither skip nor repeat."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from pydantic import BaseModel, Field

from storyshelf.errors import BadInputError

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


class PageQuery(BaseModel):
    """The part of a query that every list takes."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="Most rows to return")
    after: str | None = Field(None, max_length=4_000, description="`next` of the page before")


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
