"""How many attempts ended in each minute and how: columns of parts, a legend, and a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from storyshelf.operations.metric_store import Ended
from storyshelf.ui.words import number_of

COLUMN_PX = 10  # of the drawing's own measure; it is shown as wide as there is room
GAP_PX = 2
HEIGHT_PX = 100
LEAST_PX = 2  # what is there at all is seen
WAYS = ("completed", "other", "retried", "failed")  # from the top of a column to its foot


@dataclass(frozen=True, slots=True)
class Part:
    """The attempts of a minute that ended one way; `y` is where it begins, from the top."""

    way: str
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Column:
    """A minute: where its column stands, its parts, and the attempts of each way in figures."""

    minute: str
    iso: str
    x: int
    parts: Sequence[Part]
    count: int
    completed: int
    retried: int
    failed: int
    others: int


@dataclass(frozen=True, slots=True)
class Chart:
    """The last minutes, the oldest first; the legend names the ways that occur."""

    columns: Sequence[Column]
    legend: Sequence[str]
    width: int
    height: int
    bar_width: int
    words: str


def chart_of(series: Sequence[Ended]) -> Chart | None:
    """Return the drawing; None where nothing ended in all that time."""
    most = max((each.count for each in series), default=0)
    if not most:
        return None
    totals = {way: sum(_ways(each)[way] for each in series) for way in WAYS}
    return Chart(
        columns=[_column(place, each, most) for place, each in enumerate(series)],
        legend=[way for way in WAYS if totals[way]],
        width=COLUMN_PX * len(series),
        height=HEIGHT_PX,
        bar_width=COLUMN_PX - GAP_PX,
        words=_words(series, most),
    )


def _ways(each: Ended) -> dict[str, int]:
    """Return how many ended each way; together they are all."""
    return {
        "completed": each.completed,
        "other": each.count - each.completed - each.retried - each.failed,
        "retried": each.retried,
        "failed": each.failed,
    }


def _column(place: int, each: Ended, most: int) -> Column:
    ways = _ways(each)
    return Column(
        minute=f"{each.minute:%H:%M}",
        iso=each.minute.isoformat(),
        x=place * COLUMN_PX + GAP_PX // 2,
        parts=_parts(ways, most),
        count=each.count,
        completed=each.completed,
        retried=each.retried,
        failed=each.failed,
        others=ways["other"],
    )


def _parts(ways: dict[str, int], most: int) -> Sequence[Part]:
    """Return the parts from the foot up; the completed make room for what is lifted to sight."""
    parts: list[Part] = []
    foot, top = HEIGHT_PX, HEIGHT_PX - _height(sum(ways.values()), most)
    for way in reversed(WAYS):
        if not ways[way]:
            continue
        height = _height(ways[way], most)
        if way == "completed":
            height = max(LEAST_PX, min(height, foot - top))
        foot -= height
        parts.append(Part(way, foot, height))
    return parts


def _height(count: int, most: int) -> int:
    return max(LEAST_PX, round(HEIGHT_PX * count / most)) if count else 0


def _words(series: Sequence[Ended], most: int) -> str:
    total = sum(each.count for each in series)
    ways = {way: sum(_ways(each)[way] for each in series) for way in WAYS}
    told = ", ".join(f"{ways[way]:,} {_said(way)}" for way in WAYS if ways[way])
    how = "all of them completed" if ways["completed"] == total else told
    return (
        f"{number_of(total, 'attempt')} ended in these {len(series)} whole minutes: {how};"
        f" at most {most:,} in a minute"
    )


def _said(way: str) -> str:
    return "otherwise" if way == "other" else way
