"""The accessibility rules that a story breaks, and how they stand to those its baseline breaks.

A place is known again by its rule, its selector and its markup. Selectors count siblings, and both
may hold generated numbers, so a list that moved or grew would break everything anew; that is why
what finds no twin by the letter is paired by its markup alone, then by its selector, then by both
with all numbers taken out. What is left over on one side is new, on the other fixed.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

NUMBER = re.compile(r"\d+")
SIBLING = re.compile(r":nth-(?:last-)?(?:child|of-type)\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Place:
    """An element that breaks a rule: its selector, its markup, and what would mend it."""

    target: str
    html: str
    summary: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that is broken, how hard that is (`critical` to `minor`, or `unknown`), and where."""

    rule: str
    impact: str
    help: str
    help_url: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What an examination found, by Storybook's `addon` or by `axe`.

    `left_out` places were more than are kept; `problem` says why nothing is known.
    """

    found_by: str
    engine: str
    violations: tuple[Violation, ...] = ()
    left_out: int = 0
    problem: str = ""

    @property
    def total(self) -> int:
        """Return how often a rule is broken."""
        return sum(len(violation.places) for violation in self.violations) + self.left_out

    def to_json(self) -> dict[str, Any]:
        """Return what is stored."""
        return asdict(self)

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> "Findings":
        """Read what `to_json` wrote."""
        violations = tuple(
            Violation(**{**each, "places": tuple(Place(**place) for place in each["places"])})
            for each in stored["violations"]
        )
        return cls(**{**stored, "violations": violations})


@dataclass(frozen=True, slots=True)
class Broken:
    """One rule at one place."""

    violation: Violation
    place: Place


@dataclass(frozen=True, slots=True)
class Standing:
    """How findings stand to the baseline's; places of the new ones but for what is fixed."""

    new: tuple[Broken, ...]
    still: tuple[Broken, ...]
    fixed: tuple[Broken, ...]


def compare(baseline: Findings | None, head: Findings | None) -> Standing | None:
    """Return how they stand; None where one of them is not known, so nothing can be called new."""
    if baseline is None or head is None or baseline.problem or head.problem:
        return None
    paired: set[int] = set()
    gone, come = list(_broken(baseline)), list(_broken(head))
    for key in _KEYS:
        gone = _paired(gone, come, paired, key)
    return Standing(
        new=tuple(each for at, each in enumerate(come) if at not in paired),
        still=tuple(each for at, each in enumerate(come) if at in paired),
        fixed=tuple(gone),
    )


def all_new(head: Findings) -> Standing:
    """Return how the findings of a story stand that has no baseline."""
    return Standing(tuple(_broken(head)), (), ())


def _broken(findings: Findings) -> Iterator[Broken]:
    for violation in findings.violations:
        for place in violation.places:
            yield Broken(violation, place)


def _paired(
    gone: Sequence[Broken], come: Sequence[Broken], paired: set[int], key: "_Key"
) -> list[Broken]:
    """Pair what has the same key, in order; return what of `gone` found no twin."""
    free: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    for at, each in enumerate(come):
        if at not in paired:
            free[each.violation.rule, key(each.place)].append(at)
    left = []
    for each in gone:
        twins = free[each.violation.rule, key(each.place)]
        if twins:
            paired.add(twins.popleft())
        else:
            left.append(each)
    return left


_Key = Callable[[Place], str]


def _numberless(text: str) -> str:
    return NUMBER.sub("#", SIBLING.sub("", text))


_KEYS: tuple[_Key, ...] = (
    lambda place: f"{place.target}\n{place.html}",
    lambda place: place.html,
    lambda place: place.target,
    lambda place: _numberless(f"{place.target}\n{place.html}"),
    lambda place: _numberless(place.target),
)
