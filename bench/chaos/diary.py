"""A consumer's own log, read as what it did and what it believes; it outlives the consumer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.chaos.ledger import Attempt
from storyshelf.ids import JobId

RAN = "chaos.ran"  # logged by every handler here, before anything else
ANSWERED = "chaos.answered"  # logged when the attempt is over, with what became of its settle


@dataclass(frozen=True, slots=True)
class Diary:
    """The log of one consumer process."""

    path: Path

    @property
    def executed(self) -> frozenset[JobId]:
        """Return the jobs whose handler ran here."""
        return frozenset(JobId(line["job"]) for line in self.lines(RAN))

    @property
    def believed(self) -> Sequence[Attempt]:
        """Return the attempts as this process saw them end."""
        return [
            Attempt(JobId(line["job"]), line["attempt"], line["outcome"])
            for line in self.lines(ANSWERED)
        ]

    def times(self, event: str) -> Sequence[datetime]:
        """Return when the event was logged, by the clock of the process."""
        return [datetime.fromisoformat(line["timestamp"]) for line in self.lines(event)]

    def lines(self, event: str) -> Sequence[Mapping[str, Any]]:
        """Return the lines of that event."""
        return [line for line in self._parsed() if line.get("event") == event]

    def _parsed(self) -> Iterator[Mapping[str, Any]]:
        if not self.path.exists():
            return
        for line in self.path.read_text(errors="replace").splitlines():
            try:
                parsed = json.loads(line)
            except ValueError:
                continue  # torn by a kill, or no log line
            if isinstance(parsed, dict):
                yield parsed
