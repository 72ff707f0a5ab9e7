"""What has to become of each story of the fixtures: their `expected.json` as values."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

TABLE = Path(__file__).parent / "hazards" / "expected.json"
FRAMEWORKS = Path(__file__).parent / "frameworks"


class Ending(StrEnum):
    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Expected:
    """One row. Fields that are empty or None promise nothing.

    `code` is the error's or the skip's reason; `message` a part of the error's text. `warnings`
    must all be there, `may_warn` may be too (`*`: any), and no other. `present` and `absent` are
    colours (`#rrggbb`) of at least one pixel, or of none. `same_as` names a story whose picture has
    the same bytes. `widths` are those of the viewports, one picture each; `height` is the
    picture's, in pixels. `needs` says what a capture has to have for the row to hold at all;
    `hazard` is a number in the project's list of hazards.
    """

    ending: Ending
    code: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    may_warn: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    same_as: str = ""
    same_every_time: bool = True
    widths: tuple[int, ...] = (1280,)
    height: int | None = None
    diff_threshold: float | None = None
    needs: str = ""
    hazard: int | None = None


def expected_endings() -> dict[str, Expected]:
    """Each story of the loadable hazards, by id; an unknown field is an error."""
    return _read(TABLE)


def endings_with(parts: str) -> dict[str, Expected]:
    """Each story of a book, by id: what is the same everywhere, then what that framework has else.

    A fault outside of what a framework watches over is the page's affair there, not the story's.
    """
    own = FRAMEWORKS / "parts" / parts / "expected.json"
    return _read(FRAMEWORKS / "expected.json") | (_read(own) if own.exists() else {})


def _read(table: Path) -> dict[str, Expected]:
    rows = json.loads(table.read_text(encoding="utf-8"))
    return {story_id: _parse(row) for story_id, row in rows.items()}


def _parse(row: dict[str, object]) -> Expected:
    tuples = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Expected(**{**tuples, "ending": Ending(str(row["ending"]))})  # type: ignore[arg-type]  # checked by test_expected_endings
