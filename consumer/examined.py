"""What parent and child say to each other of a story's accessibility: as hostile as its picture."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from consumer.parameter_values import STORABLE, Label
from storyshelf.bundle.accessibility import MAX_CHECKS

MAX_LINE = 500  # characters of a text for people
MAX_RULES = 60  # that one story breaks; axe has about a hundred
MAX_PLACES = 200  # where it breaks them, over all rules; the rest is counted

ChecksText = Annotated[str, Field(max_length=MAX_CHECKS, pattern=STORABLE)]
Line = Annotated[str, Field(max_length=MAX_LINE, pattern=STORABLE)]


class Examination(StrEnum):
    """Whose accessibility results are wanted of a story that rendered."""

    OFF = "off"
    ADDON = "addon"  # what Storybook's own addon reported, if it is there
    AXE = "axe"  # that, else those of our own run of axe-core


class FoundBy(StrEnum):
    """Who looked for accessibility faults."""

    ADDON = "addon"
    AXE = "axe"


class Impact(StrEnum):
    """How hard a fault hits those it concerns, in axe's own words; unknown: it does not say."""

    CRITICAL = "critical"
    SERIOUS = "serious"
    MODERATE = "moderate"
    MINOR = "minor"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FaultyPlace:
    """An element that breaks a rule: a selector, its markup, and what would mend it."""

    target: Line
    html: Line
    summary: Line


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a story breaks, its help, and where."""

    rule: Label
    impact: Impact
    help: Line
    help_url: Line
    places: Annotated[tuple[FaultyPlace, ...], Field(max_length=MAX_PLACES)]


def _few_places(violations: tuple[Violation, ...]) -> tuple[Violation, ...]:
    """Return them if their places are no more than are kept in all; raises ValueError."""
    if sum(len(violation.places) for violation in violations) > MAX_PLACES:
        msg = f"they have more than {MAX_PLACES} places"
        raise ValueError(msg)
    return violations


Violations = Annotated[
    tuple[Violation, ...], Field(max_length=MAX_RULES), AfterValidator(_few_places)
]


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found; `left_out` counts places beyond the bounds, `problem` says what failed."""

    found_by: FoundBy
    engine: Line
    violations: Violations = ()
    left_out: Annotated[int, Field(ge=0, lt=2**31)] = 0
    problem: Line = ""
