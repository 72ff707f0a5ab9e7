"""What a build came to, in lines for a person: the verdict, every story to look at, the counts."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from storyshelf.client.answers import Build, Snapshot
from storyshelf.client.exit_codes import ExitCode
from storyshelf.ids import DEFAULT_MODE

DECIDABLE = ("changed", "added", "removed", "unstable")
TO_LOOK_AT = ("errored", *DECIDABLE)  # in order of urgency
COUNTED = (
    "unchanged",
    "inherited",
    "changed",
    "added",
    "removed",
    "unstable",
    "errored",
    "skipped",
)
FIRST_BUILD = "first build"  # the rule
MAX_MESSAGE_LINES = 12  # of one story's error; its page has the rest

Tone = Literal["good", "bad", "attention", "plain", "faint"]

_TONES: dict[str, Tone] = {
    "passed": "good",
    "accepted": "good",
    "skipped": "good",
    "pending": "attention",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is printed as it is, never wrapped: links stay whole."""

    text: str
    tone: Tone = "plain"


def summary(build: Build, snapshots: Sequence[Snapshot], code: ExitCode) -> tuple[Line, ...]:
    """Name every story that is errored, changed, added, removed or unstable, with its link.

    Except the added ones of a first build, which are all that there is, and accepted by rule.
    """
    head = f"Build {build.number} on {clean(build.branch)} {verdict_sentence(build)}"
    lines = [Line(head, _TONES.get(build.state, "bad")), Line(f"  {build.url}")]
    lines += [Line(f"Warning: {clean(warning)}", "attention") for warning in build.warnings]
    told = [each for each in TO_LOOK_AT if each != "added" or build.rule != FIRST_BUILD]
    for verdict in told:
        lines += _group(verdict, [each for each in snapshots if each.verdict == verdict])
    lines += _how_to_decide(build, snapshots)
    lines += [Line(""), Line(counts_sentence(build), "faint")]
    lines += _accessibility(build)
    lines += [Line(f"Exit code {code}", "faint")]
    return tuple(lines)


def verdict_sentence(build: Build) -> str:
    """Say what the build's state means, after `Build 12 on main`."""
    counts = build.counts
    known = {
        "passed": "passed: nothing changed",
        "accepted": f"is accepted{_by_rule(build)}",
        "pending": f"is pending: {_count(counts.get('undecided', 0), 'change')} to decide",
        "denied": f"is denied: {_count(counts.get('denied', 0), 'change')} denied",
        "broken": f"is broken: {_count(counts.get('errored', 0), 'snapshot')} not captured",
    }
    because = f": {clean(build.state_reason)}" if build.state_reason else ""
    return known.get(build.state, f"is {clean(build.state)}{because}")


def counts_sentence(build: Build) -> str:
    """Return the counts that are not zero, by verdict."""
    counted = [(build.counts.get(verdict, 0), verdict) for verdict in COUNTED]
    parts = [f"{number} {verdict}" for number, verdict in counted if number]
    return f"{sum(number for number, _ in counted)} snapshots: {', '.join(parts) or 'none'}"


def clean(text: str) -> str:
    """Return a stranger's text without the characters that would move a terminal's cursor."""
    return "".join(
        " " if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else character
        for character in text
    )


def _group(verdict: str, snapshots: Sequence[Snapshot]) -> list[Line]:
    if not snapshots:
        return []
    lines = [Line(""), Line(f"{verdict.capitalize()} ({len(snapshots)})")]
    for snapshot in snapshots:
        lines.append(Line(f"  {_named(snapshot)}  {clean(snapshot.url)}"))
        if snapshot.error is not None:
            message = snapshot.error.message.strip().splitlines()[:MAX_MESSAGE_LINES]
            lines += [Line(f"      {clean(line)}", "bad") for line in message]
    return lines


def _accessibility(build: Build) -> list[Line]:
    found = build.accessibility
    if found is None:
        return []
    total, new, fixed = _count(found.violations, "violation"), found.new or 0, found.fixed or 0
    text = f"Accessibility: {total}, {new} new, {fixed} fixed"
    return [Line(text, "attention" if new else "faint")]


def _how_to_decide(build: Build, snapshots: Sequence[Snapshot]) -> list[Line]:
    waiting = [each for each in snapshots if each.verdict in DECIDABLE and each.decision == "none"]
    if not (waiting and build.counts.get("undecided", 0)):
        return []
    every, one = f"accept {build.number} --all", f"deny {build.number} {waiting[0].id}"
    return [Line(""), Line(f"To decide: storyshelf {every}, or one by one: storyshelf {one}")]


def _named(snapshot: Snapshot) -> str:
    mode = "" if snapshot.mode == DEFAULT_MODE else f" [{snapshot.mode}]"
    decided = "" if snapshot.decision == "none" else f" ({snapshot.decision})"
    return clean(f"{snapshot.title} / {snapshot.name}{mode}{decided}")


def _by_rule(build: Build) -> str:
    if build.rule == FIRST_BUILD:
        return ": the first build of a project is its baseline"
    return f" by rule: {clean(build.rule)}" if build.rule else ": every change was accepted"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
