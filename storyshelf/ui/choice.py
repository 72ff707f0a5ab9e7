"""Which snapshots a page shows, as its address says it; build and snapshot pages share it."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from storyshelf.ids import SnapshotId
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.web.links import Links, with_query
from storyshelf.web.paging import After

MAX_TEXT = 200
MAX_TITLE = 1_000

Decided = Literal["", "undecided", "accepted", "denied"]
DECISIONS: dict[Decided, Decision | None] = {
    "": None,
    "undecided": Decision.NONE,
    "accepted": Decision.ACCEPTED,
    "denied": Decision.DENIED,
}


class Choice(After):
    """The filter of a build's snapshots; a form sends empty fields along."""

    verdict: Verdict | Literal[""] = ""
    decision: Decided = ""
    q: str = Field("", max_length=MAX_TEXT)
    component: str = Field("", max_length=MAX_TITLE)

    @property
    def among(self) -> Among:
        """Return what the choice leaves in."""
        return Among(
            verdict=self.verdict or None,
            decision=DECISIONS[self.decision],
            text=self.q.strip(),
            component=self.component,
        )

    @property
    def query(self) -> dict[str, str | None]:
        """Return the choice as links carry it, without where the list goes on."""
        return {
            "verdict": self.verdict,
            "decision": self.decision,
            "q": self.q.strip(),
            "component": self.component,
        }


@dataclass(frozen=True, slots=True)
class Trail:
    """The links of a review, all of which keep what the reader chose to see."""

    slug: str
    number: int
    choice: Choice

    @property
    def next(self) -> str:
        """Return what a decision leads on to: what waits next of the choice."""
        return with_query("next", self.choice.query)

    def build(self, verdict: Verdict | None = None) -> str:
        """Return the build's page with the choice, or with one verdict of it."""
        query = self.choice.query if verdict is None else {**self.choice.query, "verdict": verdict}
        return with_query(Links().build(self.slug, self.number), query)

    def snapshot(self, snapshot_id: SnapshotId) -> str:
        """Return the page of a snapshot with the choice."""
        link = Links().snapshot(self.slug, self.number, snapshot_id)
        return with_query(link, self.choice.query)
