"""What a reviewer can decide on a build's page: one snapshot, all that wait, or what was last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.review.read import SnapshotView
from storyshelf.review.strip import LastTaken, Shown
from storyshelf.snapshots.decision import DECIDABLE, Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.choice import Choice
from storyshelf.ui.words import ago, number_of


@dataclass(frozen=True, slots=True)
class Act:
    """A button that decides one snapshot."""

    word: str
    decision: Decision
    tone: str


@dataclass(frozen=True, slots=True)
class Whole:
    """All that waits of a choice, to be decided as one."""

    key: str
    count: int
    waiting: str
    besides: str
    verdict: str
    text: str
    component: str


@dataclass(frozen=True, slots=True)
class LastDecision:
    """What the visitor decided last, to be taken back as one."""

    words: str
    taken: str


_ACCEPT = Act("Accept", Decision.ACCEPTED, "good")
_DENY = Act("Deny", Decision.DENIED, "bad")
_UNDO = Act("Undo", Decision.NONE, "")
# In the place of the button that was used stands the one that takes it back: the focus stays.
_ACTS: dict[Decision, Sequence[Act]] = {
    Decision.NONE: (_ACCEPT, _DENY),
    Decision.ACCEPTED: (_UNDO, _DENY),
    Decision.DENIED: (_ACCEPT, _UNDO),
}


def acts_on(snapshot: SnapshotView) -> Sequence[Act]:
    """Return what can be decided of a snapshot; nothing of one that is errored or unchanged."""
    return _ACTS[snapshot.decision] if snapshot.verdict in DECIDABLE else ()


def whole_of(choice: Choice, counts: Mapping[Verdict, Shown]) -> Whole | None:
    """Return what can be decided as one; None where nothing waits, or the choice is of decided."""
    count = sum(shown.undecided for shown in counts.values())
    if not count or choice.decision not in {"", "undecided"}:
        return None
    errored = counts[Verdict.ERRORED].count if Verdict.ERRORED in counts else 0
    return Whole(
        key=choice.verdict or "all",
        count=count,
        waiting=number_of(count, f"{choice.verdict} snapshot".strip()),
        besides=_besides(errored),
        verdict=choice.verdict,
        text=choice.q.strip(),
        component=choice.component,
    )


def last_decision(last: LastTaken | None, now: datetime) -> LastDecision | None:
    """Return the decision that can be taken back."""
    if last is None:
        return None
    return LastDecision(f"{last.number:,} {last.decision} {ago(last.at, now)}", last.at.isoformat())


def _besides(errored: int) -> str:
    if not errored:
        return ""
    are = "is" if errored == 1 else "are"
    return f"{number_of(errored, 'errored snapshot')} {are} not among them."
