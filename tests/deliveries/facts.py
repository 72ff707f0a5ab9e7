"""What is told of a build, every part of which may be left out."""

from dataclasses import replace
from typing import Any

from storyshelf.deliveries.message import BuildFacts
from storyshelf.ids import BuildId, ProjectId
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict

NOTHING = Counts({}, accepted=0, denied=0, undecided=0)
SHOP = BuildFacts(
    project_id=ProjectId(1),
    slug="shop",
    project_name="Shop",
    build_id=BuildId(7),
    number=5,
    branch="main",
    commit="c0ffee",
    author=None,
    pull_request=None,
    state="passed",
    reason=None,
    rule=None,
    is_sealed=True,
    counts=NOTHING,
)


def facts(state: str, **changes: Any) -> BuildFacts:
    return replace(SHOP, state=state, **changes)


def counts(accepted: int = 0, denied: int = 0, undecided: int = 0, **verdicts: int) -> Counts:
    by_verdict = {Verdict(name): number for name, number in verdicts.items()}
    return Counts(by_verdict, accepted=accepted, denied=denied, undecided=undecided)
