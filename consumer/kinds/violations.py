"""What a child found of a story's accessibility, beside what its baseline breaks."""

from dataclasses import replace

from consumer.examined import Examination
from consumer.kinds.finding import Finding, Shot
from consumer.messages import Captured
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.snapshots.snapshot import Notice, PlannedSnapshot, Verdict
from storyshelf.snapshots.violations import Findings, Place, Standing, Violation, all_new, compare

EXAMINATIONS = {
    Accessibility.OFF: Examination.OFF,
    Accessibility.ADDON: Examination.ADDON,
    Accessibility.RECORD: Examination.AXE,
    Accessibility.BLOCK: Examination.AXE,
}


def findings_of(captured: Captured) -> Findings | None:
    """Return what was found as it is stored; None where nobody looked."""
    examined = captured.examined
    if examined is None:
        return None
    violations = tuple(
        Violation(
            rule=each.rule,
            impact=each.impact.value,
            help=each.help,
            help_url=each.help_url,
            places=tuple(Place(one.target, one.html, one.summary) for one in each.places),
        )
        for each in examined.violations
    )
    return Findings(
        examined.found_by.value, examined.engine, violations, examined.left_out, examined.problem
    )


def standing_of(snapshot: PlannedSnapshot, findings: Findings | None) -> Standing | None:
    """Return how findings stand to the baseline's; without a baseline all are new."""
    if snapshot.baseline_id is None and findings is not None and not findings.problem:
        return all_new(findings)
    return compare(snapshot.baseline_findings, findings)


def must_be_seen_again(snapshot: PlannedSnapshot, finding: Finding) -> bool:
    """Tell whether new violations would make a change of what is else unchanged."""
    is_open = finding.verdict is Verdict.UNCHANGED
    return is_open and _blocks(snapshot) and bool(_new(snapshot, finding.shot))


def judged_again(snapshot: PlannedSnapshot, finding: Finding, second: Shot) -> Finding:
    """Have somebody decide if a fresh page breaks new rules too; what it breaks is what counts."""
    if second.captured.examined is None or second.captured.examined.problem:
        return finding
    new = _new(snapshot, second)
    if not new:
        return replace(finding, examined=second)
    several = "s" if new > 1 else ""
    reason = f"{finding.reason} It has {new} new accessibility violation{several}."
    return replace(finding, verdict=Verdict.CHANGED, reason=reason, examined=second)


def notices_of(findings: Findings | None) -> tuple[Notice, ...]:
    """Return what a reader should know of an examination that failed."""
    if findings is None or not findings.problem:
        return ()
    text = f"Accessibility could not be examined: {findings.problem}"
    return (Notice("accessibility_failed", text),)


def _blocks(snapshot: PlannedSnapshot) -> bool:
    return snapshot.options.accessibility is Accessibility.BLOCK


def _new(snapshot: PlannedSnapshot, shot: Shot) -> int:
    standing = standing_of(snapshot, findings_of(shot.captured))
    return 0 if standing is None else len(standing.new)
