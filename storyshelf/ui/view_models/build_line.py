"""A build in one line, as lists show it, and the sentence that says why it is where it is."""

from dataclasses import dataclass
from datetime import datetime

from storyshelf.builds.build import Build, BuildState
from storyshelf.review.read import BuildView
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.decision import ACCEPTED_BRANCH, FIRST_BUILD
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.signs import BUILD_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.words import When, first_line, number_of, sentence, short, when
from storyshelf.web.links import Links

NAMED_IN_A_LINE = tuple(
    verdict for verdict in VERDICT_SIGNS if verdict not in {Verdict.SKIPPED, Verdict.INHERITED}
)


@dataclass(frozen=True, slots=True)
class BuildLine:
    """One build in a list."""

    number: int
    link: str
    sign: Sign
    branch: str
    commit: str
    commit_short: str
    message: str
    counts: str
    created: When


def build_line(slug: str, view: BuildView, now: datetime) -> BuildLine:
    """Return what a list says of a build."""
    build = view.build
    return BuildLine(
        number=build.number,
        link=Links().build(slug, build.number),
        sign=BUILD_SIGNS[build.state],
        branch=build.branch,
        commit=build.commit,
        commit_short=short(build.commit),
        message=first_line(build.message),
        counts=counts_in_words(view.counts),
        created=when(build.created_at, now),
    )


def counts_in_words(counts: Counts) -> str:
    """Return `2 changed, 38 unchanged`; the verdicts that need no look are left out."""
    named = [f"{n:,} {verdict}" for verdict in NAMED_IN_A_LINE if (n := counts.of(verdict))]
    return ", ".join(named)


def why(build: Build, counts: Counts) -> str:
    """Return the build's state with its reason in a sentence."""
    if build.state_reason:
        return sentence(f"{BUILD_SIGNS[build.state].word}: {build.state_reason}")
    if build.rule and build.state is BuildState.ACCEPTED:
        return f"Accepted by the rule “{build.rule}”{_BECAUSE.get(build.rule, '')}."
    return _SENTENCES[build.state].format(
        undecided=_wait(counts.undecided),
        denied=number_of(counts.denied, "snapshot"),
        accepted=number_of(counts.accepted, "snapshot"),
        total=number_of(counts.total, "snapshot"),
    )


def _wait(number: int) -> str:
    return "1 snapshot waits" if number == 1 else f"{number:,} snapshots wait"


_BECAUSE = {
    FIRST_BUILD: ": there was nothing to compare it with",
    ACCEPTED_BRANCH: ": the project's settings accept what changes on this branch",
}
_SENTENCES: dict[BuildState, str] = {
    BuildState.UPLOADING: "Its files are being uploaded; it is planned when all are here.",
    BuildState.QUEUED: "It waits for a consumer to plan it.",
    BuildState.PLANNING: "A consumer loads the Storybook to find its stories and parameters.",
    BuildState.CAPTURING: "Its stories are being rendered and compared.",
    BuildState.PASSED: "Nothing changed in {total}.",
    BuildState.PENDING: "{undecided} for a decision.",
    BuildState.ACCEPTED: "All changes were accepted: {accepted}.",
    BuildState.DENIED: "Changes were denied: {denied}.",
    BuildState.BROKEN: "Stories could not be rendered; see the errored ones.",
    BuildState.FAILED: "It could not be captured as a whole; see its shards.",
    BuildState.INCOMPLETE: "A part of it never came.",
    BuildState.CANCELLED: "It was cancelled.",
    BuildState.SKIPPED: "It was skipped: nothing had to be captured.",
}
