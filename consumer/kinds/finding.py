"""What a capture ends in: a verdict, its sentence, and the pictures that stand for it."""

from dataclasses import dataclass, replace

from consumer.capture.confirm import Conclusion, Confirmed
from consumer.messages import Captured, Compared
from storyshelf.diff.outcome import Outcome
from storyshelf.ids import BlobKey
from storyshelf.snapshots.snapshot import Notice, Pixels, Verdict


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
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A difference that is not believed yet."""

    base: bytes
    first: Shot
    second: Shot
    compared: Compared


def concluded(confirmed: Confirmed, suspicion: Suspicion, compared: Compared) -> Finding:
    """The verdict on a first picture that differed, once a fresh page has shown a second."""
    second = suspicion.second
    reason = f"{compared.reason} {confirmed.reason}"
    match confirmed.conclusion:
        case Conclusion.UNCHANGED:
            return replace(unchanged(second, compared), reason=reason)
        case Conclusion.CHANGED:
            return Finding(Verdict.CHANGED, reason, second, compared=compared)
        case Conclusion.UNSTABLE:
            frames = (suspicion.first, second)
            return Finding(Verdict.UNSTABLE, reason, second, compared=compared, frames=frames)


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
