"""The snapshots of a build in groups of one verdict: cards where there is something to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storyshelf.diff.thumbnail import size_of
from storyshelf.ids import DEFAULT_BROWSER, DEFAULT_MODE, BlobKey
from storyshelf.review.read import SnapshotView
from storyshelf.review.strip import ORDER, Shown
from storyshelf.snapshots.decision import DECIDABLE
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.choice import Trail
from storyshelf.ui.signs import DECISION_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.deciding import Act, Whole, acts_on, whole_of
from storyshelf.ui.view_models.filters import changed
from storyshelf.ui.view_models.pictures import Box, Image, baseline_of, picture_of
from storyshelf.ui.words import first_line, number_of
from storyshelf.web.links import Links

SHOWN_OF_EACH = 60  # a few screens; the rest is one link away
OUTLINED = 20  # more regions than that are a picture that is changed all over
IN_CARDS = DECIDABLE | {Verdict.ERRORED}
SAY_WHY = frozenset({Verdict.SKIPPED})  # in a line the reason stands where it differs


@dataclass(frozen=True, slots=True)
class Thumb:
    """A picture made small, with what changed outlined; `space` is what it shows of the picture."""

    label: str
    link: str
    alt: str
    width_px: int
    height_px: int
    space: str
    boxes: Sequence[Box]


@dataclass(frozen=True, slots=True)
class Card:
    """One snapshot in a group; `seen` names it with the decision that the page shows of it."""

    id: int
    seen: str
    link: str
    title: str
    component_link: str
    name: str
    variant: str
    note: str
    images: Sequence[Thumb]
    decision: Sign | None
    acts: Sequence[Act]


@dataclass(frozen=True, slots=True)
class Group:
    """The snapshots of one verdict, or some of them."""

    verdict: str
    sign: Sign
    count: int
    is_compact: bool
    whole: Whole | None
    cards: Sequence[Card]
    rest_link: str | None
    rest_words: str


def groups_of(
    trail: Trail,
    snapshots: Sequence[SnapshotView],
    counts: Mapping[Verdict, Shown],
    next_link: str | None,
) -> Sequence[Group]:
    """Return a group for each verdict that is there, in the order of review.

    `next_link` is where the list of a single verdict goes on.
    """
    groups = []
    for verdict in ORDER:
        here = [snapshot for snapshot in snapshots if snapshot.verdict is verdict]
        if here:
            count = max(counts[verdict].count if verdict in counts else 0, len(here))
            more = trail.build(verdict) if count > len(here) else None
            rest_link = next_link if trail.choice.verdict else more
            groups.append(_group(trail, here, count, counts, rest_link))
    return groups


def variant_of(snapshot: SnapshotView) -> str:
    """Return mode and browser, where they are not the default ones."""
    parts = ((snapshot.mode, DEFAULT_MODE), (snapshot.browser, DEFAULT_BROWSER))
    return " · ".join(value for value, default in parts if value != default)


def _group(
    trail: Trail,
    here: Sequence[SnapshotView],
    count: int,
    counts: Mapping[Verdict, Shown],
    rest_link: str | None,
) -> Group:
    verdict = here[0].verdict
    of_these = {verdict: counts[verdict]} if verdict in counts else {}
    return Group(
        verdict=verdict,
        sign=VERDICT_SIGNS[verdict],
        count=count,
        is_compact=verdict not in IN_CARDS,
        whole=whole_of(trail.choice.model_copy(update={"verdict": verdict}), of_these),
        cards=[_card(trail, snapshot) for snapshot in here],
        rest_link=rest_link,
        rest_words=f"More of {number_of(count, f'{verdict} snapshot')}",
    )


def _card(trail: Trail, snapshot: SnapshotView) -> Card:
    return Card(
        id=snapshot.id,
        seen=f"{snapshot.id}:{snapshot.decision}",
        link=trail.snapshot(snapshot.id),
        title=snapshot.title,
        component_link=changed(trail, component=snapshot.title),
        name=snapshot.name,
        variant=variant_of(snapshot),
        note=_note(snapshot),
        images=_thumbs_of(trail.slug, snapshot),
        decision=DECISION_SIGNS[snapshot.decision] if snapshot.verdict in DECIDABLE else None,
        acts=acts_on(snapshot),
    )


def _thumbs_of(slug: str, snapshot: SnapshotView) -> Sequence[Thumb]:
    thumbs = []
    before, after = baseline_of(slug, snapshot), picture_of(slug, snapshot)
    if before is not None and snapshot.baseline is not None and snapshot.baseline.image is not None:
        thumbs.append(_thumb(slug, before, snapshot.baseline.image, ()))
    if after is not None and snapshot.image is not None:
        regions = snapshot.diff["regions"] if snapshot.diff else ()
        boxes = [Box(*region) for region in regions[:OUTLINED]]
        thumbs.append(_thumb(slug, after, snapshot.image, boxes))
    return thumbs


def _thumb(slug: str, picture: Image, key: BlobKey, boxes: Sequence[Box]) -> Thumb:
    width_px, height_px = size_of(picture.width_px, picture.height_px)
    seen_px = round(height_px * max(picture.width_px, 1) / width_px)
    return Thumb(
        label=picture.label,
        link=Links().thumbnail(slug, key),
        alt=picture.alt,
        width_px=width_px,
        height_px=height_px,
        space=f"0 0 {max(picture.width_px, 1)} {seen_px}",
        boxes=boxes,
    )


def _note(snapshot: SnapshotView) -> str:
    if snapshot.error is not None:
        return first_line(snapshot.error["message"])
    if snapshot.verdict in SAY_WHY:
        return snapshot.reason
    notes = []
    if snapshot.verdict is Verdict.CHANGED and snapshot.diff is not None:
        notes.append(f"{number_of(snapshot.diff['changed_px'], 'pixel')} changed")
    if snapshot.new_violations and snapshot.baseline is not None:
        notes.append(f"{number_of(snapshot.new_violations, 'new violation')}")
    return ", ".join(notes)
