"""What an examination of this machine found, one thing at a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from storyshelf.errors import StoryshelfError


class Finding(StrEnum):
    """Whether a consumer can work with it."""

    OK = "ok"
    WARN = "warn"  # it can, but somebody should know
    FAIL = "fail"  # it must not take jobs


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was tried; `cure` is what to do if it is not ok."""

    name: str
    finding: Finding
    detail: str
    cure: str = ""

    @property
    def is_failed(self) -> bool:
        """Whether a consumer must not work because of it."""
        return self.finding is Finding.FAIL

    def line(self) -> str:
        """Say it for people."""
        cure = f"\n      {self.cure}" if self.cure else ""
        return f"{self.finding:<5} {self.name}: {self.detail}{cure}"


class UnfitMachineError(StoryshelfError):
    """A consumer cannot work here and takes no jobs; the first failed probe says why."""

    def __init__(self, failed: Probe) -> None:
        super().__init__(
            f"this machine cannot capture: {failed.detail}",
            where=failed.name,
            next_step=failed.cure,
        )


def failed(name: str, error: StoryshelfError) -> Probe:
    """Turn an error with its own words into a finding."""
    where = f" ({error.where})" if error.where else ""
    return Probe(name, Finding.FAIL, f"{error.what}{where}", error.next_step)


def require_fit(probes: Iterable[Probe]) -> None:
    """Raise UnfitMachineError for the first that failed."""
    for probe in probes:
        if probe.is_failed:
            raise UnfitMachineError(probe)
