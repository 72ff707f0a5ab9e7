"""Which of a build's snapshots its page shows, and the links and fields that change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storyshelf.review.strip import ORDER, Shown
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.choice import DECISIONS, Choice, Trail
from storyshelf.ui.signs import VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.forms import Option
from storyshelf.web.links import with_query


@dataclass(frozen=True, slots=True)
class Chip:
    """How many snapshots have a verdict, and the way to see only these."""

    sign: Sign
    count: int
    link: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Filters:
    """The choice that a page shows."""

    verdict: str
    text: str
    component: str
    decisions: Sequence[Option]
    chips: Sequence[Chip]
    any_verdict_link: str
    any_component_link: str
    is_filtered: bool


def filters_of(trail: Trail, counts: Mapping[Verdict, Shown]) -> Filters:
    """Return the filters; `counts` are of the choice with every verdict let in."""
    choice = trail.choice
    return Filters(
        verdict=choice.verdict,
        text=choice.q.strip(),
        component=choice.component,
        decisions=[Option(one, one or "any", one == choice.decision) for one in DECISIONS],
        chips=_chips(trail, counts),
        any_verdict_link=changed(trail, verdict=None),
        any_component_link=changed(trail, component=None),
        is_filtered=any(choice.query.values()),
    )


def changed(trail: Trail, **query: str | None) -> str:
    """Return the build's page with the choice, but for what is given."""
    everything = Trail(trail.slug, trail.number, Choice()).build()
    return with_query(everything, {**trail.choice.query, **query})


def _chips(trail: Trail, counts: Mapping[Verdict, Shown]) -> Sequence[Chip]:
    current = trail.choice.verdict
    return [
        Chip(
            VERDICT_SIGNS[verdict],
            counts[verdict].count if verdict in counts else 0,
            trail.build(verdict),
            verdict == current,
        )
        for verdict in ORDER
        if verdict in counts or verdict == current
    ]
