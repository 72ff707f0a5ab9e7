"""How a state is shown: a word, a shape and a tone, so that colour alone never carries it."""

from dataclasses import dataclass

from storyshelf.builds.build import BuildState
from storyshelf.builds.shard_store import ShardState
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict


@dataclass(frozen=True, slots=True)
class Sign:
    """A word with a tone (`good bad wait busy quiet`), whose shape the style sheet draws."""

    word: str
    tone: str


BUILD_SIGNS: dict[BuildState, Sign] = {
    BuildState.UPLOADING: Sign("uploading", "busy"),
    BuildState.QUEUED: Sign("queued", "busy"),
    BuildState.PLANNING: Sign("planning", "busy"),
    BuildState.CAPTURING: Sign("capturing", "busy"),
    BuildState.PASSED: Sign("passed", "good"),
    BuildState.PENDING: Sign("pending", "wait"),
    BuildState.ACCEPTED: Sign("accepted", "good"),
    BuildState.DENIED: Sign("denied", "bad"),
    BuildState.BROKEN: Sign("broken", "bad"),
    BuildState.FAILED: Sign("failed", "bad"),
    BuildState.INCOMPLETE: Sign("incomplete", "bad"),
    BuildState.CANCELLED: Sign("cancelled", "quiet"),
    BuildState.SKIPPED: Sign("skipped", "quiet"),
}
# In the order of review: see review.strip.
VERDICT_SIGNS: dict[Verdict, Sign] = {
    Verdict.CHANGED: Sign("changed", "wait"),
    Verdict.ADDED: Sign("added", "wait"),
    Verdict.REMOVED: Sign("removed", "wait"),
    Verdict.ERRORED: Sign("errored", "bad"),
    Verdict.UNSTABLE: Sign("unstable", "wait"),
    Verdict.UNCHANGED: Sign("unchanged", "good"),
    Verdict.SKIPPED: Sign("skipped", "quiet"),
    Verdict.INHERITED: Sign("inherited", "good"),
    Verdict.PLANNED: Sign("planned", "busy"),
}
SHARD_SIGNS: dict[ShardState, Sign] = {
    ShardState.OPEN: Sign("open", "busy"),
    ShardState.DONE: Sign("done", "good"),
    ShardState.FAILED: Sign("failed", "bad"),
    ShardState.CANCELLED: Sign("cancelled", "quiet"),
}
DECISION_SIGNS: dict[Decision, Sign] = {
    Decision.NONE: Sign("undecided", "wait"),
    Decision.ACCEPTED: Sign("accepted", "good"),
    Decision.DENIED: Sign("denied", "bad"),
}
