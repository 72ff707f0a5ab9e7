"""The snapshots of a build in groups of one verdict: cards where there is something to look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from storyshelf.ids import DEFAULT_BROWSER, DEFAULT_MODE
from storyshelf.review.read import BuildView, SnapshotView
from storyshelf.snapshots.decision import DECIDABLE
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.signs import DECISION_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.pictures import Image, baseline_of, picture_of
from storyshelf.ui.words import first_line, number_of
from storyshelf.web.links import Links, with_query

SHOWN_OF_EACH = 60  # a few screens; the rest is one link away
IN_CARDS = DECIDABLE | {Verdict.ERRORED}
SAY_WHY = frozenset({Verdict.SKIPPED})  # in a line the reason stands where it differs


@dataclass(frozen=True, slots=True)
class Card:
    """One snapshot in a group."""

    link: str
    title: str
    name: str
    variant: str
    note: str
    images: Sequence[Image]
    decision: Sign | None


@dataclass(frozen=True, slots=True)
class Group:
    """The snapshots of one verdict, or some of them."""

    verdict: str
    sign: Sign
    count: int
    is_compact: bool
    cards: Sequence[Card]
    rest_link: str | None
    rest_words: str


def groups_of(slug: str, view: BuildView, snapshots: Sequence[SnapshotView]) -> Sequence[Group]:
    """Return a group for each verdict that is there, what needs a person first."""
    groups = []
    for verdict in VERDICT_SIGNS:
        shown = [snapshot for snapshot in snapshots if snapshot.verdict is verdict]
        if shown:
            is_whole = view.counts.of(verdict) <= len(shown)
            rest = None if is_whole else verdict_link(slug, view.build.number, verdict)
            groups.append(group_of(slug, view, verdict, shown, rest))
    return groups


def group_of(
    slug: str,
    view: BuildView,
    verdict: Verdict,
    shown: Sequence[SnapshotView],
    rest_link: str | None,
) -> Group:
    """Return these snapshots of one verdict, with the link to more of them."""
    count = max(view.counts.of(verdict), len(shown))
    cards = [_card(slug, view.build.number, snapshot) for snapshot in shown]
    return Group(
        verdict=verdict,
        sign=VERDICT_SIGNS[verdict],
        count=count,
        is_compact=verdict not in IN_CARDS,
        cards=cards,
        rest_link=rest_link,
        rest_words=f"More of {number_of(count, f'{verdict} snapshot')}",
    )


def verdict_link(slug: str, number: int, verdict: Verdict, after: str | None = None) -> str:
    """Return the build's page with the snapshots of one verdict only."""
    return with_query(Links().build(slug, number), {"verdict": verdict, "after": after})


def variant_of(snapshot: SnapshotView) -> str:
    """Return mode and browser, where they are not the default ones."""
    parts = ((snapshot.mode, DEFAULT_MODE), (snapshot.browser, DEFAULT_BROWSER))
    return " · ".join(value for value, default in parts if value != default)


def _card(slug: str, number: int, snapshot: SnapshotView) -> Card:
    pictures = (baseline_of(slug, snapshot), picture_of(slug, snapshot))
    return Card(
        link=Links().snapshot(slug, number, snapshot.id),
        title=snapshot.title,
        name=snapshot.name,
        variant=variant_of(snapshot),
        note=_note(snapshot),
        images=[picture for picture in pictures if picture is not None],
        decision=DECISION_SIGNS[snapshot.decision] if snapshot.verdict in DECIDABLE else None,
    )


def _note(snapshot: SnapshotView) -> str:
    if snapshot.error is not None:
        return first_line(snapshot.error["message"])
    if snapshot.verdict in SAY_WHY:
        return snapshot.reason
    if snapshot.verdict is Verdict.CHANGED and snapshot.diff is not None:
        return f"{number_of(snapshot.diff['changed_px'], 'pixel')} changed"
    return ""
