"""What a snapshot breaks of accessibility: new, still there, fixed, each rule with its places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storyshelf.review.read import ExaminedView
from storyshelf.snapshots.counts import Violations
from storyshelf.snapshots.violations import Broken, Findings, Place, all_new
from storyshelf.ui.signs import Sign
from storyshelf.ui.words import number_of

SHOWN_PLACES = 20  # of a rule: a table whose every cell breaks one says so with a few
HELP = "https://dequeuniversity.com/"  # where axe's help is; a page may have written anything
FOUND_BY = {"addon": "Storybook's accessibility addon", "axe": "axe"}


@dataclass(frozen=True, slots=True)
class RuleNote:
    """A broken rule; `more` counts places that are not shown."""

    rule: str
    impact: str
    help: str
    link: str
    places: Sequence[Place]
    more: str


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that stand alike to the baseline."""

    sign: Sign
    count: int
    rules: Sequence[RuleNote]
    is_open: bool


@dataclass(frozen=True, slots=True)
class AccessibilityNote:
    """What there is to say of a story's accessibility, who looked, and what was broken."""

    summary: str
    source: str
    groups: Sequence[RuleGroup]


def accessibility_of(examined: ExaminedView | None) -> AccessibilityNote | None:
    """Return what the page says; None: nobody looked."""
    if examined is None:
        return None
    findings, standing = examined.findings, examined.standing
    if findings.problem:
        return AccessibilityNote("It could not be examined.", findings.problem, ())
    if standing is None:
        groups = [_group(Sign("violations", "wait"), all_new(findings).new, opened=True)]
        return AccessibilityNote(
            "The baseline was not examined, so nothing is new or fixed.",
            _source(findings),
            [group for group in groups if group.count],
        )
    groups = [
        _group(Sign("new", "bad"), standing.new, opened=True),
        _group(Sign("still there", "quiet"), standing.still, opened=False),
        _group(Sign("fixed", "good"), standing.fixed, opened=False),
    ]
    shown = [group for group in groups if group.count]
    summary = "" if shown else "No rule is broken."
    return AccessibilityNote(summary, _source(findings), shown)


def violations_in_words(violations: Violations | None) -> str:
    """Return a build's counts in a line; nothing where nobody looked."""
    if violations is None:
        return ""
    total = number_of(violations.total, "violation")
    return f"{total}, {violations.new:,} new, {violations.fixed:,} fixed"


def _source(findings: Findings) -> str:
    by = FOUND_BY.get(findings.found_by, findings.found_by)
    source = f"Examined by {by} {findings.engine}".rstrip()
    left = number_of(findings.left_out, "more place") if findings.left_out else ""
    return f"{source}; {left} left out." if left else f"{source}."


def _group(sign: Sign, broken: Sequence[Broken], *, opened: bool) -> RuleGroup:
    rules = [_rule(each) for each in _by_rule(broken)]
    return RuleGroup(sign, len(broken), rules, opened)


def _by_rule(broken: Iterable[Broken]) -> Sequence[Sequence[Broken]]:
    of_rules: dict[str, list[Broken]] = {}
    for each in broken:
        of_rules.setdefault(each.violation.rule, []).append(each)
    return list(of_rules.values())


def _rule(broken: Sequence[Broken]) -> RuleNote:
    violation, more = broken[0].violation, len(broken) - SHOWN_PLACES
    return RuleNote(
        rule=violation.rule,
        impact=violation.impact,
        help=violation.help,
        link=violation.help_url if violation.help_url.startswith(HELP) else "",
        places=[each.place for each in broken[:SHOWN_PLACES]],
        more=f"and {number_of(more, 'more place')}" if more > 0 else "",
    )
