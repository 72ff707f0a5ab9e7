"""What a command shows while it works and when it is done: bars, lines, or one JSON document."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Protocol, TextIO

from storyshelf.client.steps import Step
from storyshelf.client.summary import Line
from storyshelf.terminal import plain

LINE_EVERY_S = 15.0  # in a CI log: often enough to show life, seldom enough to read

Monotonic = Callable[[], float]


class Format(Enum):
    """How a command speaks."""

    LIVE = "live"
    LINES = "lines"
    JSON = "json"


class Output(Protocol):
    """Where a command reports to."""

    def step(self, step: Step) -> None:
        """Show how far a stage is; called as often as it moves."""
        ...

    def say(self, lines: Sequence[Line]) -> None:
        """Print lines as they are."""
        ...

    def result(self, document: Mapping[str, object]) -> None:
        """Hand out the result for a machine; where people read, nothing."""
        ...


def choose_format(*, json_wanted: bool, stream: TextIO, environ: Mapping[str, str]) -> Format:
    """Use bars only where a person watches a terminal."""
    if json_wanted:
        return Format.JSON
    return Format.LIVE if stream.isatty() and not environ.get("CI") else Format.LINES


@contextmanager
def open_output(form: Format, monotonic: Monotonic) -> Iterator[Output]:
    """Open the output of one command on stdout."""
    match form:
        case Format.LIVE:
            from storyshelf.cli.live import live_output  # noqa: PLC0415  # rich, if watched

            with live_output() as live:
                yield live
        case Format.LINES:
            yield PlainOutput(sys.stdout, monotonic)
        case Format.JSON:
            yield JsonOutput(sys.stdout)


class JsonOutput:
    """One document, and nothing else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def step(self, step: Step) -> None:
        """Say nothing."""

    def say(self, lines: Sequence[Line]) -> None:
        """Say nothing."""

    def result(self, document: Mapping[str, object]) -> None:
        """Print the document."""
        self._stream.write(f"{json.dumps(document, indent=2)}\n")
        self._stream.flush()


class PlainOutput:
    """Lines for a log: a stage's begin and end, and a sign of life in between."""

    def __init__(self, stream: TextIO, monotonic: Monotonic) -> None:
        self._stream = stream
        self._monotonic = monotonic
        self._printed: dict[str, str] = {}
        self._printed_s = float("-inf")

    def step(self, step: Step) -> None:
        """Print the step where it begins or ends a stage, or the last line is old."""
        now_s = self._monotonic()
        ends = step.total > 0 and step.done >= step.total
        is_due = step.name not in self._printed or ends or now_s - self._printed_s >= LINE_EVERY_S
        text = f"{step.name}: {step.detail}"
        if is_due and self._printed.get(step.name) != text:
            self._printed[step.name] = text
            self._printed_s = now_s
            self._write(text)

    def say(self, lines: Sequence[Line]) -> None:
        """Print the lines without their tones."""
        for line in lines:
            self._write(line.text)

    def result(self, document: Mapping[str, object]) -> None:
        """Say nothing: the summary is the result."""

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        printable = plain(text).encode(encoding, "replace").decode(encoding)
        self._stream.write(f"{printable}\n")
        self._stream.flush()
