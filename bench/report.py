"""What a bench ends with: its last line is for machines."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Length(StrEnum):
    """How long a bench may take."""

    QUICK = "quick"  # within 5 minutes
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Report:
    """Ratios are ours to the peer's, of what is better when it is more."""

    bench: str
    ratios: Mapping[str, float]
    figures: Mapping[str, Any] = field(default_factory=dict)
    is_good: bool = True  # whether what had to hold did

    @property
    def exit_code(self) -> int:
        """Return what the run ends with."""
        return 0 if self.is_good else 1

    def last_line(self) -> str:
        """Return the one line of JSON."""
        return json.dumps(
            {"bench": self.bench, "ratios": rounded(self.ratios), "figures": rounded(self.figures)}
        )


def rounded(value: Any) -> Any:
    """Return the value with every number in it at three digits after the point."""
    match value:
        case float():
            return round(value, 3)
        case Mapping():
            return {name: rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [rounded(each) for each in value]
        case _:
            return value


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out text in columns: the first to the left, numbers to the right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
