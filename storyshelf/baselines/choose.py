"""Choose a snapshot's baseline from the ancestor build, with the reason in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.ids import SnapshotId, SnapshotKey

NO_ANCESTOR = "No build of this branch or of the default branch was planned before this one."


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
    where = f"build {ancestor.number}, the last one planned on {ancestor.branch}"
    if ancestor.branch != branch:
        where += f", since {branch} has none before"
    if key not in ancestor.effective:
        return Baseline(None, f"It is not in {where}.")
    snapshot_id = ancestor.effective[key]
    if snapshot_id is None:
        return Baseline(None, f"Nothing was accepted for it up to {where}.")
    return Baseline(snapshot_id, f"What {where}, hands on.")
