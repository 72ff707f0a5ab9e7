"""That one build uses another: its snapshots name some of the other's."""

from dataclasses import dataclass
from enum import StrEnum

from storyshelf.ids import BuildId


class Use(StrEnum):
    """For what a build's snapshots are needed by another one."""

    HANDED_ON = "handed on"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True, order=True)
class User:
    """A build that uses another one."""

    number: int
    build_id: BuildId
    use: Use
