"""Pictures as pages show them: in cards, and large with what changed drawn over them."""

from collections.abc import Sequence
from dataclasses import dataclass

from storyshelf.review.read import SnapshotView
from storyshelf.web.links import Links


@dataclass(frozen=True, slots=True)
class Image:
    """One picture, with its size so that nothing moves when it arrives."""

    label: str
    link: str
    alt: str
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a story that did not hold still; nobody wrote down its size."""

    label: str
    link: str
    alt: str


@dataclass(frozen=True, slots=True)
class Box:
    """A region that changed, in pixels of the new picture."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn over the new picture: the mask at its offset, and the regions."""

    mask_link: str | None
    mask_x: int
    mask_y: int
    regions: Sequence[Box]


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
    if snapshot.diff is None or (snapshot.mask is None and not snapshot.diff["regions"]):
        return None
    return Overlay(
        mask_link=None if snapshot.mask is None else Links().image(slug, snapshot.mask),
        mask_x=snapshot.diff["mask_x"],
        mask_y=snapshot.diff["mask_y"],
        regions=[Box(*region) for region in snapshot.diff["regions"]],
    )
