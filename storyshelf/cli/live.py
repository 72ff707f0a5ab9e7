"""Bars that move on a terminal, and coloured lines above them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from storyshelf.client.steps import Step
from storyshelf.client.summary import Line, Tone
from storyshelf.terminal import plain

STYLES: dict[Tone, str] = {
    "good": "bold green",
    "bad": "bold red",
    "attention": "bold yellow",
    "plain": "",
    "faint": "dim",
}


class LiveOutput:
    """See `output.Output`; one bar a stage."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def step(self, step: Step) -> None:
        """Move the stage's bar; a stage of unknown length pulses."""
        total = step.total or None
        task = self._tasks.get(step.name)
        if task is None:
            task = self._progress.add_task(step.name, total=total, detail=step.detail)
            self._tasks[step.name] = task
        self._progress.update(task, completed=step.done, total=total, detail=step.detail)

    def say(self, lines: Sequence[Line]) -> None:
        """Print above the bars, unwrapped: a terminal finds a link only when it is whole."""
        for line in lines:
            text = Text(plain(line.text), style=STYLES[line.tone])
            self._progress.console.print(text, soft_wrap=True)

    def result(self, document: Mapping[str, object]) -> None:
        """Say nothing: the summary is the result."""


@contextmanager
def live_output(console: Console | None = None) -> Iterator[LiveOutput]:
    """Open the bars; they go when the command ends, the lines stay."""
    columns = (
        TextColumn("{task.description:<10}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
    )
    with Progress(*columns, console=console or Console(highlight=False), transient=True) as bars:
        yield LiveOutput(bars)
