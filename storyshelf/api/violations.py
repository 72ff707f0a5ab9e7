"""What stories break of accessibility, as the API says it."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from storyshelf.review.read import ExaminedView, SnapshotView
from storyshelf.snapshots.counts import Violations
from storyshelf.snapshots.violations import Broken, all_new


class AccessibilityOut(BaseModel):
    """How often rules are broken; new and fixed beside the baseline, null without one to tell."""

    violations: int
    new: int | None
    fixed: int | None

    @classmethod
    def of_build(cls, violations: Violations | None) -> "AccessibilityOut | None":
        """Return the sums of a build; None: nobody looked."""
        if violations is None:
            return None
        return cls(violations=violations.total, new=violations.new, fixed=violations.fixed)

    @classmethod
    def of_snapshot(cls, view: SnapshotView) -> "AccessibilityOut | None":
        """Return the counts of a snapshot; None: nobody looked."""
        if view.violations is None:
            return None
        new, fixed = view.new_violations, view.fixed_violations
        return cls(violations=view.violations, new=new, fixed=fixed)


class ViolationOut(BaseModel):
    """A rule that is broken at one place; `known` where there is nothing to compare it with."""

    standing: Literal["new", "still", "fixed", "known"]
    rule: str
    impact: str
    help: str
    help_url: str
    target: str
    html: str
    summary: str

    @classmethod
    def of(
        cls, broken: Broken, standing: Literal["new", "still", "fixed", "known"]
    ) -> "ViolationOut":
        """Return what is shown of it."""
        violation, place = broken.violation, broken.place
        return cls(
            standing=standing,
            rule=violation.rule,
            impact=violation.impact,
            help=violation.help,
            help_url=violation.help_url,
            target=place.target,
            html=place.html,
            summary=place.summary,
        )


def violations_of(examined: ExaminedView | None) -> Sequence[ViolationOut] | None:
    """Return every violation with how it stands; None: nobody looked, or it failed."""
    if examined is None or examined.findings.problem:
        return None
    standing = examined.standing
    if standing is None:
        return [ViolationOut.of(each, "known") for each in all_new(examined.findings).new]
    return [
        *(ViolationOut.of(each, "new") for each in standing.new),
        *(ViolationOut.of(each, "still") for each in standing.still),
        *(ViolationOut.of(each, "fixed") for each in standing.fixed),
    ]
