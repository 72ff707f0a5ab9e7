"""What a build's state is said as: the check of a context, its description, the numbers.

What a required check needs decides two cases. A build that was cancelled gives no verdict, so its
check is never a success, not even where a newer build took its place: the newer one's commit has a
check of its own, and for the same commit it has the word. And while people decide, the check is
pending: a failure would say that somebody had looked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from storyshelf.ids import BuildId, ProjectId
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict

MAX_DESCRIPTION = 140  # of GitHub's; GitLab takes more
TESTS = "UI Tests"
STORYBOOK = "Storybook Publish"


class Check(StrEnum):
    """What a context shows; each forge has its own names for it."""

    WORKING = "working"  # something is still done for the build
    WAITING = "waiting"  # a person is asked
    SUCCESS = "success"
    FAILURE = "failure"  # a person said no
    ERROR = "error"  # there is no verdict
    CANCELLED = "cancelled"  # nor will there be one of this build


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What is told of a build; `state` is the word of its state."""

    project_id: ProjectId
    slug: str
    project_name: str
    build_id: BuildId
    number: int
    branch: str
    commit: str
    author: str | None
    pull_request: int | None
    state: str
    reason: str | None
    rule: str | None
    is_sealed: bool
    counts: Counts

    @property
    def path(self) -> str:
        """Return where the build's page is on the server."""
        return f"/projects/{self.slug}/builds/{self.number}"

    @property
    def storybook_path(self) -> str:
        """Return what leads to the published Storybook."""
        return f"{self.path}/storybook"


CHECKS: Mapping[str, Check] = {
    "uploading": Check.WORKING,
    "queued": Check.WORKING,
    "planning": Check.WORKING,
    "capturing": Check.WORKING,
    "passed": Check.SUCCESS,
    "pending": Check.WAITING,
    "accepted": Check.SUCCESS,
    "denied": Check.FAILURE,
    "broken": Check.ERROR,
    "failed": Check.ERROR,
    "incomplete": Check.ERROR,
    "cancelled": Check.CANCELLED,
    "skipped": Check.SUCCESS,
}


def context_of(name: str, slug: str | None) -> str:
    """Return a context's name; with the project's, where several share a repository."""
    return name if slug is None else f"{name} ({slug})"


def describe(facts: BuildFacts) -> str:
    """Return the build's state in one line with its numbers, of at most 140 characters."""
    return shortened(WORDS[facts.state](facts), MAX_DESCRIPTION)


def storybook_check(facts: BuildFacts) -> tuple[Check, str]:
    """Return whether the Storybook can be browsed, whatever becomes of its pictures."""
    if facts.is_sealed:
        return Check.SUCCESS, "The Storybook is published"
    if facts.state == "uploading":
        return Check.WORKING, describe(facts)
    return CHECKS[facts.state], describe(facts)


def changes_in_words(counts: Counts) -> str:
    """Return how many snapshots differ and how, such as `5 changes: 3 changed, 2 added`."""
    kinds = (Verdict.CHANGED, Verdict.ADDED, Verdict.REMOVED, Verdict.UNSTABLE)
    parts = [f"{counts.of(kind)} {kind}" for kind in kinds if counts.of(kind)]
    return f"{_number(counts.of(*kinds), 'change')}: {', '.join(parts)}"


def shortened(text: str, most: int) -> str:
    """Return the text in one line, cut where it is too long.

    Without what moves the cursor, and without what turns the direction of the text behind it.
    """
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _pending(facts: BuildFacts) -> str:
    counts = facts.counts
    return f"{counts.undecided} to review of {changes_in_words(counts)}"


def _accepted(facts: BuildFacts) -> str:
    said = f"{_number(facts.counts.accepted, 'snapshot')} accepted"
    return f"{said} by the rule `{facts.rule}`" if facts.rule else said


def _denied(facts: BuildFacts) -> str:
    counts = facts.counts
    return f"{_number(counts.denied, 'change')} denied, {counts.accepted} accepted"


def _broken(facts: BuildFacts) -> str:
    counts = facts.counts
    said = f"{_number(counts.of(Verdict.ERRORED), 'snapshot')} could not be rendered"
    return f"{said}; {counts.undecided} to review" if counts.undecided else said


def _with_reason(what: str) -> Callable[[BuildFacts], str]:
    def words(facts: BuildFacts) -> str:
        return f"{what}: {facts.reason}" if facts.reason else what

    return words


def _waits(_facts: BuildFacts) -> str:
    return "The build waits to be captured"


WORDS: Mapping[str, Callable[[BuildFacts], str]] = {
    "uploading": lambda _: "The Storybook is being uploaded",
    "queued": _waits,
    "planning": _waits,
    "capturing": lambda facts: f"{_number(facts.counts.total, 'snapshot')} to capture and compare",
    "passed": lambda facts: f"{_number(facts.counts.total, 'snapshot')}, nothing changed",
    "pending": _pending,
    "accepted": _accepted,
    "denied": _denied,
    "broken": _broken,
    "failed": _with_reason("The build failed"),
    "incomplete": _with_reason("The build is incomplete"),
    "cancelled": _with_reason("Cancelled"),
    "skipped": _with_reason("Skipped"),
}


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
