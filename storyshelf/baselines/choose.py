"""Choose a snapshot's baseline from the ancestor build, with the reason that its page shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.ids import SnapshotId, SnapshotKey

NO_ANCESTOR = (
    "There is none: no build on this branch or on the default branch was planned before this one."
)


@dataclass(frozen=True, slots=True)
class Ancestor:
    """The build to compare with: its number, branch, and what each of its keys hands on."""

    number: int
    branch: str
    effective: Mapping[SnapshotKey, SnapshotId | None]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a snapshot is compared with; no id: with nothing."""

    snapshot_id: SnapshotId | None
    reason: str


def choose(key: SnapshotKey, ancestor: Ancestor | None, branch: str) -> Baseline:
    """Choose for one key of a build on `branch`."""
    if ancestor is None:
        return Baseline(None, NO_ANCESTOR)
    build = _in_words(ancestor, branch)
    if key not in ancestor.effective:
        return Baseline(None, f"There is none: this story and mode did not exist in {build}.")
    snapshot_id = ancestor.effective[key]
    if snapshot_id is None:
        return Baseline(None, f"There is none: no picture of it is accepted as of {build}.")
    return Baseline(snapshot_id, f"The accepted picture as of {build}.")


def _in_words(ancestor: Ancestor, branch: str) -> str:
    build = f"build {ancestor.number}, the latest planned build on {ancestor.branch}"
    return build if ancestor.branch == branch else f"{build} ({branch} had none before)"
