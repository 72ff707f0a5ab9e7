"""What a story's parameters may hold on their way out of the child: JSON, short however deep."""

from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

MAX_LABEL = 60  # characters of a name
MAX_TEXT = 200  # characters of a value
MAX_ITEMS = 50  # of a list
MAX_FIELDS = 30  # of an object
MAX_NUMBER = 2**53  # what a number of JavaScript holds exactly

STORABLE = r"^[^\x00]*$"  # a database refuses NUL, and with it all results of the statement


def _bounded(value: JsonValue) -> JsonValue:
    """Return it if all of it is short; raises ValueError."""
    if not _fits(value):
        msg = "a parameter is too long, too large or cannot be stored"
        raise ValueError(msg)
    return value


def _fits(value: JsonValue) -> bool:
    match value:
        case list():
            return len(value) <= MAX_ITEMS and all(map(_fits, value))
        case dict():
            names = all(len(name) <= MAX_LABEL and "\0" not in name for name in value)
            return names and len(value) <= MAX_FIELDS and all(map(_fits, value.values()))
        case str():
            return len(value) <= MAX_TEXT and "\0" not in value
        case bool() | None:
            return True
        case int() | float():
            return abs(value) <= MAX_NUMBER  # nan is not


Label = Annotated[str, Field(max_length=MAX_LABEL, pattern=STORABLE)]
Value = Annotated[JsonValue, AfterValidator(_bounded)]
Parameters = Annotated[dict[Label, Value], Field(max_length=MAX_FIELDS)]
