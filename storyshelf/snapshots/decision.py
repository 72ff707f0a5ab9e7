"""What people decide about a snapshot, and what it then hands on."""

from dataclasses import dataclass
from enum import StrEnum

from storyshelf.errors import ConflictError, NotFoundError
from storyshelf.ids import SnapshotId
from storyshelf.snapshots.snapshot import Pixels, Verdict

FIRST_BUILD = "first build"  # the rule that accepts what a project starts with
ACCEPTED_BRANCH = "accepted branch"  # the rule of a branch whose changes need no review


class Decision(StrEnum):
    """What a person, or a rule, says of a snapshot."""

    NONE = "none"
    ACCEPTED = "accepted"
    DENIED = "denied"


NEXT_STATES: dict[Decision, frozenset[Decision]] = {
    Decision.NONE: frozenset({Decision.ACCEPTED, Decision.DENIED}),
    Decision.ACCEPTED: frozenset({Decision.DENIED, Decision.NONE}),
    Decision.DENIED: frozenset({Decision.ACCEPTED, Decision.NONE}),
}
# Errored snapshots are in none of these: a picture of a fault never becomes a baseline.
DECIDABLE = frozenset({Verdict.CHANGED, Verdict.ADDED, Verdict.REMOVED, Verdict.UNSTABLE})

# What each rule accepts as soon as it is found.
RULE_ACCEPTS = {FIRST_BUILD: frozenset({Verdict.ADDED}), ACCEPTED_BRANCH: DECIDABLE}


class NoSuchSnapshotError(NotFoundError):
    """A snapshot that is not in the build as it is now."""

    def __init__(self, build_number: int, snapshot_id: SnapshotId) -> None:
        super().__init__(
            "There is no such snapshot in the build",
            where=f"build {build_number}, snapshot {snapshot_id}",
            next_step="Reload the build; it may have been captured again.",
        )


class UndecidableError(ConflictError):
    """There is nothing to decide about a snapshot of this verdict."""

    def __init__(self, snapshot_id: SnapshotId, verdict: Verdict) -> None:
        super().__init__(
            f"A snapshot that is {verdict} cannot be accepted or denied",
            where=f"snapshot {snapshot_id}",
            next_step="Decide the changed, added, removed and unstable ones; mend the errored.",
        )


class DecisionMovedError(ConflictError):
    """Somebody else decided since the reviewer looked."""

    def __init__(self, snapshot_id: SnapshotId, seen: Decision, found: Decision) -> None:
        super().__init__(
            f"The decision was {seen} when you looked and is {found} now",
            where=f"snapshot {snapshot_id}",
            next_step="Reload the snapshot and decide again.",
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides a snapshot's effect: its verdict, its pixels, and its own and baseline's ids."""

    id: SnapshotId
    verdict: Verdict
    pixels: Pixels
    baseline_id: SnapshotId | None


def accepted_by(rule: str | None) -> dict[Verdict, str]:
    """Return the verdicts that a build's rule accepts, with the rule."""
    return {} if rule is None else dict.fromkeys(RULE_ACCEPTS.get(rule, ()), rule)


def effective(standing: Standing, decision: Decision) -> SnapshotId | None:
    """Return the snapshot that descendants are compared with; None: there is nothing any more."""
    if standing.verdict is Verdict.REMOVED:
        return None if decision is Decision.ACCEPTED else standing.baseline_id
    if decision is Decision.ACCEPTED:
        return standing.id
    if standing.verdict is Verdict.UNCHANGED and standing.pixels is Pixels.EQUAL:
        return standing.id
    return standing.baseline_id


def check(standing: Standing, seen: Decision, found: Decision) -> None:
    """Refuse a decision about what cannot be decided, or has moved since it was seen."""
    if standing.verdict not in DECIDABLE:
        raise UndecidableError(standing.id, standing.verdict)
    if seen is not found:
        raise DecisionMovedError(standing.id, seen, found)
