"""How each kind of job fares, in a line."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.operations.figures import KindFigures, Spread
from storyshelf.operations.metric_store import BAD
from storyshelf.queue.job import Outcome
from storyshelf.ui.words import span

MS_PER_S = 1000
LEAST_TOLD = 0.05  # a minute: less would be rounded to none


@dataclass(frozen=True, slots=True)
class KindLine:
    """Attempts of one kind; `others` are those that ended in no other column."""

    kind: str
    per_minute: str
    completed: int
    retried: int
    failed: int
    others: int
    wait: tuple[str, str]
    run: tuple[str, str]


def kind_line(found: KindFigures) -> KindLine:
    """Return the figures of a kind."""
    completed, retried = (
        _of(found.outcomes, Outcome.COMPLETED),
        _of(found.outcomes, Outcome.RETRIED),
    )
    failed = _of(found.outcomes, *BAD)
    total = sum(found.outcomes.values())
    return KindLine(
        kind=found.kind,
        per_minute=_rate(found.per_minute),
        completed=completed,
        retried=retried,
        failed=failed,
        others=total - completed - retried - failed,
        wait=_spread(found.wait),
        run=_spread(found.run),
    )


def _rate(per_minute: float) -> str:
    """Return a rate; what happened seldom did happen."""
    return "< 0.1" if 0 < per_minute < LEAST_TOLD else f"{per_minute:,.1f}"


def _of(outcomes: Mapping[Outcome, int], *wanted: Outcome) -> int:
    return sum(outcomes.get(outcome, 0) for outcome in wanted)


def _spread(found: Spread | None) -> tuple[str, str]:
    if found is None:
        return "–", "–"  # noqa: RUF001  # nothing is known
    return span(found.p50_ms / MS_PER_S), span(found.p95_ms / MS_PER_S)
