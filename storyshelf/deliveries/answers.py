"""What the other end's answer means: it is said, try later, or somebody has to mend something."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from storyshelf.deliveries.message import shortened
from storyshelf.errors import StoryshelfError

OK = range(200, 300)
MOVED = range(300, 400)
UNAUTHORIZED, FORBIDDEN, TOO_MANY = 401, 403, 429
PASSING = frozenset({408, 409, 423, 425, *range(500, 600)})
MAX_WORDS = 200  # of the other end's own
LONGEST_REST = timedelta(hours=2)  # whatever it says
USUAL_REST = timedelta(minutes=1)  # of a limit that does not say how long
MAX_DIGITS = 10  # of seconds: some 300 years
REST_WORDS = ("rate limit", "abuse")
LATER = "If it stays so, check the address, and that the other end works."
REPOSITORY = (
    "Check the repository's name, and that the token may write commit statuses and comments there."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> Any:
        """Return the JSON of the body; None where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):  # RecursionError: deeper than anybody writes
            return None

    @property
    def words(self) -> str:
        """Return what the other end says of it itself."""
        document = self.document()
        if not isinstance(document, dict):
            return ""
        said = document.get("message") or document.get("error") or ""
        return shortened(said if isinstance(said, str) else json.dumps(said), MAX_WORDS)


def inside(document: object, *names: str) -> object:
    """Return what is below these names in what came back; None where it has another shape."""
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def shown(said: object) -> str:
    """Return a text of the other end as it may be shown; empty for anything else."""
    return shortened(said, MAX_WORDS) if isinstance(said, str) else ""


class TryLaterError(StoryshelfError):
    """It may succeed by itself, no sooner than `after`; `rests` if nothing else may be asked."""

    http_status = 502

    def __init__(self, what: str, after: timedelta = timedelta(), *, rests: bool = False) -> None:
        super().__init__(what, next_step=LATER)
        self.after = after
        self.rests = rests


class RefusedError(StoryshelfError):
    """No repetition helps; the text says what does."""

    http_status = 502


def require_ok(answer: Answer, now: datetime, next_step: str = REPOSITORY) -> None:
    """Go on if the other end did what it was asked; raises TryLaterError, RefusedError."""
    if answer.status in OK:
        return
    said = f"It answered {answer.status}" + (f": {answer.words}" if answer.words else "")
    if (after := _rest(answer, now)) is not None:
        raise TryLaterError(f"{said}; it asks for a rest", after, rests=True)
    if answer.status in PASSING:
        raise TryLaterError(said)
    if answer.status in MOVED:
        raise RefusedError(said, next_step="It moved: enter its new name or address.")
    if answer.status == UNAUTHORIZED:
        raise RefusedError(said, next_step="The token is not valid there: enter a new one.")
    raise RefusedError(said, next_step=next_step)


def _rest(answer: Answer, now: datetime) -> timedelta | None:
    """Return how long to ask nothing, where the answer is about a rate limit."""
    if answer.status not in {FORBIDDEN, TOO_MANY, 503}:
        return None
    for name, read in RESTS:
        after = read(answer.headers.get(name, ""), now)
        if after is not None and (name == "retry-after" or _is_used_up(answer)):
            return min(max(after, timedelta(seconds=1)), LONGEST_REST)
    is_limit = answer.status == TOO_MANY or any(
        words in answer.words.lower() for words in REST_WORDS
    )
    return USUAL_REST if is_limit else None


def _is_used_up(answer: Answer) -> bool:
    left = (answer.headers.get(f"{prefix}ratelimit-remaining") for prefix in ("x-", ""))
    return answer.status == TOO_MANY or "0" in left


def _until(value: str, now: datetime) -> timedelta | None:
    """Read a moment in seconds since the epoch."""
    if not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS):
        return None
    return timedelta(seconds=int(value) - now.timestamp())


def _after(value: str, now: datetime) -> timedelta | None:
    """Read seconds, or a date."""
    if value.isascii() and value.isdigit():
        return timedelta(seconds=int(value)) if len(value) <= MAX_DIGITS else LONGEST_REST
    try:
        return parsedate_to_datetime(value) - now
    except (TypeError, ValueError, OverflowError):
        return None


Read = Callable[[str, datetime], timedelta | None]
RESTS: tuple[tuple[str, Read], ...] = (
    ("retry-after", _after),
    ("x-ratelimit-reset", _until),
    ("ratelimit-reset", _until),
)
