"""The one place that says how a finished build ended."""

from dataclasses import dataclass

from storyshelf.builds.build import BuildState
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict

LOST_SHARDS = "{n} of its shards failed or were cancelled"
LOST_SNAPSHOTS = "{n} of its snapshots were never captured"
ERRORED = "{n} of its stories could not be rendered"


@dataclass(frozen=True, slots=True)
class Ended:
    """A state, and the sentence that goes with it where there is something to say."""

    state: BuildState
    reason: str | None = None


def reduce(counts: Counts, failed_shards: int) -> Ended:  # noqa: PLR0911  # one line a rule
    """Turn a build's counts into its state; the first that holds wins.

    A cancelled shard counts as failed. A build that was cancelled is never reduced.
    """
    if failed_shards:
        return Ended(BuildState.FAILED, LOST_SHARDS.format(n=failed_shards))
    if planned := counts.of(Verdict.PLANNED):
        return Ended(BuildState.FAILED, LOST_SNAPSHOTS.format(n=planned))
    if errored := counts.of(Verdict.ERRORED):
        return Ended(BuildState.BROKEN, ERRORED.format(n=errored))
    if counts.undecided:
        return Ended(BuildState.PENDING)
    if counts.denied:
        return Ended(BuildState.DENIED)
    return Ended(BuildState.ACCEPTED if counts.accepted else BuildState.PASSED)
