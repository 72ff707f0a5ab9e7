"""Pictures as pages show them: in cards, and large with what changed drawn over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storyshelf.review.read import SnapshotView
from storyshelf.ui.words import number_of
from storyshelf.web.links import Links


@dataclass(frozen=True, slots=True)
class Image:
    """One picture, with its size so that nothing moves when it arrives."""

    label: str
    link: str
    alt: str
    width_px: int
    height_px: int

    @property
    def size(self) -> str:
        """Return its size in words."""
        return size_of(self.width_px, self.height_px)


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a story that did not hold still; nobody wrote down its size."""

    label: str
    link: str
    alt: str


@dataclass(frozen=True, slots=True)
class Box:
    """A region that changed or is ignored, in pixels of the new picture."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn over the new picture: the mask at its offset, regions, and what moves.

    `ignored` are regions that were not compared, of the new picture and of the baseline.
    """

    mask_link: str | None
    mask_x: int
    mask_y: int
    regions: Sequence[Box]
    moving: Sequence[Box]
    ignored: Sequence[Box]


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """A way to look at two pictures, with the key that chooses it."""

    name: str
    word: str
    key: str


NO_DIFF: Mapping[str, Any] = {"mask_x": 0, "mask_y": 0, "regions": ()}
VIEWS = (
    ViewChoice("side", "Side by side", "1"),
    ViewChoice("swipe", "Swipe", "2"),
    ViewChoice("overlay", "Changes", "3"),
    ViewChoice("blink", "Blink", "4"),
    ViewChoice("one", "One", "5"),
)


@dataclass(frozen=True, slots=True)
class Stage:
    """Both pictures on grounds of one size, so that they are seen at one scale."""

    width_px: int
    height_px: int
    baseline: Image | None
    picture: Image | None
    overlay: Overlay | None
    is_pair: bool
    size_note: str
    region_count: str
    views: Sequence[ViewChoice] = VIEWS


def stage_of(slug: str, snapshot: SnapshotView) -> Stage:
    """Return what is looked at."""
    baseline, picture = baseline_of(slug, snapshot), picture_of(slug, snapshot)
    images = [image for image in (baseline, picture) if image is not None]
    overlay = None if picture is None else overlay_of(slug, snapshot)
    return Stage(
        width_px=max((image.width_px for image in images), default=0),
        height_px=max((image.height_px for image in images), default=0),
        baseline=baseline,
        picture=picture,
        overlay=overlay,
        is_pair=len(images) > 1,
        size_note=_size_note(baseline, picture),
        region_count="" if overlay is None else number_of(len(overlay.regions), "region"),
    )


def baseline_of(slug: str, snapshot: SnapshotView) -> Image | None:
    """Return the picture that was compared with."""
    baseline = snapshot.baseline
    if baseline is None or baseline.image is None:
        return None
    return Image(
        label="Baseline",
        link=Links().image(slug, baseline.image),
        alt=f"{snapshot.title}, {snapshot.name}: the baseline, from build {baseline.build_number}",
        width_px=baseline.width_px or 0,
        height_px=baseline.height_px or 0,
    )


def picture_of(slug: str, snapshot: SnapshotView) -> Image | None:
    """Return the picture of this build."""
    if snapshot.image is None:
        return None
    return Image(
        label="New",
        link=Links().image(slug, snapshot.image),
        alt=f"{snapshot.title}, {snapshot.name}: as it is in this build",
        width_px=snapshot.width_px or 0,
        height_px=snapshot.height_px or 0,
    )


def frames_of(slug: str, snapshot: SnapshotView) -> Sequence[Frame]:
    """Return the pictures of a story that did not hold still, in the order they were taken."""
    return [
        Frame(
            label=f"Frame {place}",
            link=Links().image(slug, key),
            alt=f"{snapshot.title}, {snapshot.name}: frame {place}",
        )
        for place, key in enumerate(snapshot.frames, start=1)
    ]


def overlay_of(slug: str, snapshot: SnapshotView) -> Overlay | None:
    """Return what is to be drawn over the new picture; None where nothing is."""
    diff, ignored = snapshot.diff or NO_DIFF, _ignored(snapshot)
    if not (snapshot.mask or diff["regions"] or diff.get("moving") or ignored):
        return None
    return Overlay(
        mask_link=None if snapshot.mask is None else Links().image(slug, snapshot.mask),
        mask_x=diff["mask_x"],
        mask_y=diff["mask_y"],
        regions=[Box(*region) for region in diff["regions"]],
        moving=[Box(*place) for place in diff.get("moving", ())],
        ignored=ignored,
    )


def _ignored(snapshot: SnapshotView) -> Sequence[Box]:
    """Return what was not compared, each region once: that of both pictures."""
    of_baseline = () if snapshot.baseline is None else snapshot.baseline.ignored
    regions = dict.fromkeys(map(tuple, (*snapshot.ignored, *of_baseline)))
    return [Box(*region) for region in regions]


def size_of(width_px: int | None, height_px: int | None) -> str:
    """Return a size in words; nothing for a picture that is not there."""
    return "" if width_px is None else f"{width_px} × {height_px} px"  # noqa: RUF001  # a size


def _size_note(baseline: Image | None, picture: Image | None) -> str:
    if baseline is None or picture is None or baseline.size == picture.size:
        return ""
    steps = (
        (picture.width_px - baseline.width_px, "wider", "narrower"),
        (picture.height_px - baseline.height_px, "taller", "shorter"),
    )
    told = [f"{abs(by):,} px {more if by > 0 else less}" for by, more, less in steps if by]
    return f"The new picture is {' and '.join(told)}: {baseline.size} became {picture.size}."
