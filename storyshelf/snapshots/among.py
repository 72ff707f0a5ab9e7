"""Which of a build's snapshots somebody looks at or decides."""

from dataclasses import dataclass

from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict


@dataclass(frozen=True, slots=True)
class Among:
    """A choice of snapshots; what is not given leaves all of them in.

    A decision leaves in only what can be decided. `component` is a whole title, `text` a part of
    title and name, in whatever case.
    """

    verdict: Verdict | None = None
    decision: Decision | None = None
    text: str = ""
    component: str = ""


ALL = Among()
