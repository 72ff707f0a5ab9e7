"""What a capture ends in: a verdict, its sentence, and the pictures that stand for it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from consumer.capture.confirm import Conclusion, Confirmed
from consumer.messages import MAX_SIDE_PX, Box, Captured, Compared
from storyshelf.diff.cover import Region, is_covered
from storyshelf.diff.outcome import Outcome
from storyshelf.ids import BlobKey
from storyshelf.snapshots.snapshot import Notice, Pixels, Verdict
from storyshelf.snapshots.steadiness import Level

MOVES = "The story does not hold still: it was shot until nobody would wait longer."
MARGIN_PX = 8  # a phase of the movement that no picture has caught reaches a little farther
MAX_MOVING = 100  # boxes that are kept
EVERYWHERE = (0, 0, MAX_SIDE_PX, MAX_SIDE_PX)


@dataclass(frozen=True, slots=True)
class Shot:
    """What the child sent of one capture, with what the parent found out itself."""

    captured: Captured
    key: BlobKey | None
    took_ms: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with its sentence, before the pictures are stored."""

    verdict: Verdict
    reason: str
    shot: Shot
    pixels: Pixels = Pixels.DIFFERENT
    compared: Compared | None = None
    frames: tuple[Shot, ...] = ()
    moving: tuple[Region, ...] = ()
    warnings: tuple[Notice, ...] = ()
    examined: Shot | None = None  # whose accessibility counts, if it is not the picture's


@dataclass(frozen=True, slots=True)
class Moving:
    """Pictures of a story besides the one that stands for it, and how each compares with it."""

    frames: tuple[Shot, ...]
    compared: tuple[Compared, ...]

    @property
    def places(self) -> tuple[Region, ...]:
        """Every place that moved; all of the picture where nobody knows the place."""
        found = dict.fromkeys(place for one in self.compared for place in regions_of(one.regions))
        return tuple(found) or (EVERYWHERE,)

    def excuses(self, compared: Compared, known: tuple[Region, ...]) -> bool:
        """Tell whether all that differs may be the movement; what changes its size moves whole."""
        if any(one.base_size != one.head_size for one in self.compared):
            return True
        return lies_where_it_moves(compared, (*self.places, *known))

    @property
    def widest(self) -> Compared | None:
        """The comparison of the two that are farthest apart."""
        return max(self.compared, key=lambda one: one.raw_px, default=None)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A difference that is not believed yet."""

    base: bytes
    first: Shot
    second: Shot
    compared: Compared


def has_moved(shot: Shot) -> bool:
    """Tell whether the story moved until nobody would wait longer."""
    return shot.captured.level is Level.NEVER


def lies_where_it_moves(compared: Compared, moving: tuple[Region, ...]) -> bool:
    """Tell whether all that differs lies inside of what moves; another size lies nowhere.

    Nor does a change that a child names no region of.
    """
    if compared.outcome is not Outcome.CHANGED or not compared.regions:
        return False
    return all(is_covered(place, moving, MARGIN_PX) for place in regions_of(compared.regions))


def regions_of(boxes: Iterable[Box]) -> tuple[Region, ...]:
    """Return boxes as they are stored."""
    return tuple((box.x, box.y, box.width, box.height) for box in boxes)


def with_frame(moving: Moving | None, frame: Shot, compared: Compared) -> Moving:
    """Add a picture that another page showed."""
    frames, others = ((), ()) if moving is None else (moving.frames, moving.compared)
    return Moving((frame, *frames), (compared, *others))


def concluded(
    confirmed: Confirmed,
    shot: Shot,
    compared: Compared,
    movement: tuple[Moving | None, tuple[Region, ...]],
) -> Finding:
    """The verdict on a first picture that differed, once a fresh page has shown a second.

    Of the movement, what was seen now and what was known before. No part that moves is a change.
    """
    moving, known = movement
    found = Finding(
        Verdict.CHANGED, f"{compared.reason} {confirmed.reason}", shot, compared=compared
    )
    if confirmed.conclusion is Conclusion.UNCHANGED:
        return replace(unchanged(shot, compared), reason=found.reason)
    if lies_where_it_moves(compared, known):
        return moved_as_before(shot, compared, known)
    if moving is None:
        return found
    # What two pages alone disagree about may be anything: there is no telling the parts apart.
    is_blurred = confirmed.conclusion is Conclusion.UNSTABLE and not has_moved(shot)
    if is_blurred or moving.excuses(compared, known):
        return replace(unstable(shot, compared, moving, known), reason=found.reason)
    beside = f"{found.reason} It moves besides, elsewhere."
    return replace(found, reason=beside, moving=moving.places)


def new(shot: Shot, moving: Moving | None) -> Finding:
    """There is nothing to compare it with; one that moves is shown as what it is."""
    if moving is None:
        reason = "It is new: there is nothing to compare it with."
        return Finding(Verdict.ADDED, reason, shot)
    return replace(unstable(shot, moving.widest, moving), reason=f"It is new. {MOVES}")


def unstable(
    shot: Shot, compared: Compared | None, moving: Moving, known: tuple[Region, ...] = ()
) -> Finding:
    """It moves where it differs, so nothing can be said of that part."""
    places = dict.fromkeys(place for place in (*moving.places, *known) if place != EVERYWHERE)
    return Finding(
        Verdict.UNSTABLE,
        MOVES,
        shot,
        compared=compared,
        frames=(*moving.frames, shot),
        moving=tuple(places)[:MAX_MOVING],
    )


def moved_as_before(shot: Shot, compared: Compared, known: tuple[Region, ...]) -> Finding:
    """What differs is only what somebody has accepted as moving."""
    reason = f"{compared.reason} All of it lies where the story is known to move."
    return replace(unchanged(shot, compared), reason=reason, moving=known)


def pngs_of(captured: Captured) -> tuple[bytes, ...]:
    """Return the pictures of a story that never held still, each once, the last one not."""
    ends = list(accumulate(captured.frame_bytes, initial=0))
    frames = (captured.frames[start:end] for start, end in pairwise(ends))
    return tuple(png for png in dict.fromkeys(frames) if png != captured.png)


def errored(shot: Shot) -> Finding:
    """The story failed; its picture, if any, is only evidence."""
    error = shot.captured.error
    reason = (
        "It could not be rendered." if error is None else f"It ended with the error {error.code}."
    )
    return Finding(Verdict.ERRORED, reason, shot)


def incomparable(shot: Shot) -> Finding:
    """Have a person look: only a decision gives the story a baseline that is there again."""
    lost = "The baseline's picture is lost or damaged in the storage"
    return Finding(
        Verdict.CHANGED,
        f"{lost}, so nothing could be compared: look at the new one and decide.",
        shot,
        warnings=(Notice("baseline_lost", f"{lost}. Restore the blob folder from a backup."),),
    )


def same_bytes(shot: Shot) -> Finding:
    """Equal without having been decoded."""
    reason = "The picture is byte for byte the baseline's."
    return Finding(Verdict.UNCHANGED, reason, shot, pixels=Pixels.EQUAL)


def unchanged(shot: Shot, compared: Compared) -> Finding:
    """Compared, and nothing differs by enough to count."""
    is_equal = compared.outcome is Outcome.IDENTICAL
    pixels = Pixels.EQUAL if is_equal else Pixels.DIFFERENT
    return Finding(Verdict.UNCHANGED, compared.reason, shot, pixels=pixels, compared=compared)
