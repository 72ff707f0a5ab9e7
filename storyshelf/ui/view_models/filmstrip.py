"""The snapshots around one, in the order of review: a window, however many a build has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from storyshelf.review.read import SnapshotView
from storyshelf.review.strip import ORDER, Shown, Window
from storyshelf.snapshots.among import ALL
from storyshelf.snapshots.decision import DECIDABLE
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.choice import DECISIONS, Trail
from storyshelf.ui.signs import DECISION_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.cards import variant_of
from storyshelf.ui.view_models.forms import Option
from storyshelf.web.links import Links

EACH_SIDE = 40  # what a tall screen shows, and one more screen to scroll


@dataclass(frozen=True, slots=True)
class Shot:
    """One snapshot of the strip."""

    id: int
    link: str
    picture: str | None
    title: str
    name: str
    variant: str
    decision: str
    sign: Sign | None
    is_current: bool


@dataclass(frozen=True, slots=True)
class ShotGroup:
    """The snapshots of one verdict that are in the window; `count` is of the whole build."""

    sign: Sign
    count: int
    link: str
    shots: Sequence[Shot]


@dataclass(frozen=True, slots=True)
class Filmstrip:
    """The window, with what is chosen and the ways out of it."""

    groups: Sequence[ShotGroup]
    earlier_link: str | None
    later_link: str | None
    filter_link: str
    is_filtered: bool
    text: str
    component: str
    verdicts: Sequence[Option]
    decisions: Sequence[Option]


def filmstrip(window: Window, counts: Mapping[Verdict, Shown], trail: Trail) -> Filmstrip:
    """Return the strip around the snapshot that is looked at; `counts` are of the choice."""
    here, choice = window.snapshots[window.at], trail.choice
    after = len(window.snapshots) - 1 - window.at
    first, last = window.snapshots[0].id, window.snapshots[-1].id
    return Filmstrip(
        groups=_groups(window, counts, trail),
        earlier_link=trail.snapshot(first) if window.at == EACH_SIDE else None,
        later_link=trail.snapshot(last) if after == EACH_SIDE else None,
        filter_link=Links().snapshot(trail.slug, trail.number, here.id),
        is_filtered=choice.among != ALL,
        text=choice.q,
        component=choice.component,
        verdicts=[Option(each, each, choice.verdict == each) for each in ORDER],
        decisions=[Option(each, each, choice.decision == each) for each in DECISIONS if each],
    )


def _groups(window: Window, counts: Mapping[Verdict, Shown], trail: Trail) -> Sequence[ShotGroup]:
    here = window.snapshots[window.at]
    return [
        ShotGroup(
            sign=VERDICT_SIGNS[verdict],
            count=counts[verdict].count if verdict in counts else 1,
            link=trail.build(verdict),
            shots=[_shot(each, trail, is_current=each is here) for each in shown],
        )
        for verdict, shown in groupby(window.snapshots, key=lambda each: each.verdict)
    ]


def _shot(snapshot: SnapshotView, trail: Trail, *, is_current: bool) -> Shot:
    image = snapshot.image or (snapshot.baseline and snapshot.baseline.image)
    can_be_decided = snapshot.verdict in DECIDABLE
    return Shot(
        id=snapshot.id,
        link=trail.snapshot(snapshot.id),
        picture=Links().thumbnail(trail.slug, image) if image else None,
        title=snapshot.title,
        name=snapshot.name,
        variant=variant_of(snapshot),
        decision=snapshot.decision,
        sign=DECISION_SIGNS[snapshot.decision] if can_be_decided else None,
        is_current=is_current,
    )
