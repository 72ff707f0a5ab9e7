"""Which wishes a build's state makes of a connection."""

from collections.abc import Mapping, Sequence

from storyshelf.deliveries.comment import numbers_of
from storyshelf.deliveries.connection import Config, Forge, Hook
from storyshelf.deliveries.message import (
    CHECKS,
    STORYBOOK,
    TESTS,
    BuildFacts,
    context_of,
    describe,
    storybook_check,
)
from storyshelf.deliveries.wish import CommentWish, HookWish, StatusWish, Wish
from storyshelf.snapshots.snapshot import Verdict

CHANGES = (Verdict.CHANGED, Verdict.ADDED, Verdict.REMOVED, Verdict.UNSTABLE)
# The words of the webhooks that people know; a receiver for those reads ours.
STATUSES: Mapping[str, str] = {
    "uploading": "ANNOUNCED",
    "queued": "PUBLISHED",
    "planning": "PREPARED",
    "capturing": "IN_PROGRESS",
    "passed": "PASSED",
    "pending": "PENDING",
    "accepted": "ACCEPTED",
    "denied": "DENIED",
    "broken": "BROKEN",
    "failed": "FAILED",
    "incomplete": "INCOMPLETE",
    "cancelled": "CANCELLED",
    "skipped": "SKIPPED",
}
RESULTS: Mapping[str, str] = {
    "passed": "SUCCESS",
    "pending": "SUCCESS",
    "accepted": "SUCCESS",
    "denied": "SUCCESS",
    "broken": "CAPTURE_ERROR",
    "failed": "SYSTEM_ERROR",
    "incomplete": "TIMEOUT",
}


def wishes_of(config: Config, facts: BuildFacts) -> Sequence[Wish]:
    """Return how every subject of the connection should stand now."""
    match config:
        case Forge():
            return _forge_wishes(config, facts)
        case Hook():
            return [_hook_wish(facts)]


def _forge_wishes(forge: Forge, facts: BuildFacts) -> Sequence[Wish]:
    slug = facts.slug if forge.names_project else None
    tests = context_of(TESTS, slug)
    check = CHECKS[facts.state]
    wishes: list[Wish] = [StatusWish(facts.commit, tests, check, describe(facts), facts.path)]
    if forge.checks_storybook:
        published, said = storybook_check(facts)
        path = facts.storybook_path if facts.is_sealed else facts.path
        context = context_of(STORYBOOK, slug)
        wishes.append(StatusWish(facts.commit, context, published, said, path))
    if forge.comments and facts.pull_request is not None:
        wishes.append(_comment_wish(facts, facts.pull_request))
    return wishes


def _comment_wish(facts: BuildFacts, pull_request: int) -> CommentWish:
    return CommentWish(
        pull_request=pull_request,
        check=CHECKS[facts.state],
        headline=describe(facts),
        project_name=facts.project_name,
        number=facts.number,
        branch=facts.branch,
        commit=facts.commit,
        path=facts.path,
        storybook_path=facts.storybook_path if facts.is_sealed else None,
        numbers=numbers_of(facts),
    )


def _hook_wish(facts: BuildFacts) -> HookWish:
    counts = facts.counts
    return HookWish(
        number=facts.number,
        path=facts.path,
        storybook_path=facts.storybook_path if facts.is_sealed else None,
        build={
            "number": facts.number,
            "branch": facts.branch,
            "commit": facts.commit,
            "committerName": facts.author,
            "pullRequest": facts.pull_request,
            "status": STATUSES[facts.state],
            "result": RESULTS.get(facts.state),
            "reason": facts.reason,
            "changeCount": counts.of(*CHANGES),
            "errorCount": counts.of(Verdict.ERRORED),
            "specCount": counts.total - counts.of(Verdict.REMOVED),
            "undecidedCount": counts.undecided,
            "acceptedCount": counts.accepted,
            "deniedCount": counts.denied,
        },
        project={"slug": facts.slug, "name": facts.project_name},
    )
