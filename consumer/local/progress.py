"""Tells on standard error how far it is: one line that is rewritten, or lines for a log."""

from collections.abc import Callable
from typing import TextIO

from consumer.local.report import State, StoryResult
from storyshelf.terminal import plain

LINE_EVERY_S = 5.0  # in a log: life is seen, and the log stays short
ERASE = "\r\x1b[2K"
SHOWN = {State.ERRORED: "ERRORED", State.WARNINGS: "warnings", State.OK: "ok"}


class Progress:
    """`total` is unknown until the plan is made."""

    def __init__(self, stream: TextIO, monotonic: Callable[[], float]) -> None:
        self._stream = stream
        self._monotonic = monotonic
        self._is_live = stream.isatty()
        self._said_at = float("-inf")
        self.done = 0
        self.total = 0

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._write(f"{ERASE if self._is_live else ''}{plain(text)}\n")

    def hashed(self, done: int, total: int) -> None:
        """Tell how much of the folder was read."""
        self._pass(f"reading {done} of {total} files")

    def captured(self, result: StoryResult) -> None:
        """Tell of one more capture; what is errored for the first time is a line that stays."""
        self.done += 1
        width = len(str(self.total))
        text = f"{self.done:>{width}}/{self.total}  {SHOWN.get(result.state, '')}  {result.id}"
        if result.error is not None and result.error.times == 1:
            message = (result.error.message.splitlines() or [""])[0]
            self.say(f"{text}  {result.error.code}: {message[:200]}")
        else:
            self._pass(text)

    def end(self) -> None:
        """Leave no half line behind."""
        if self._is_live:
            self._write(ERASE)

    def _pass(self, text: str) -> None:
        if self._is_live:
            self._write(f"{ERASE}{plain(text)[:100]}")
        elif self._monotonic() - self._said_at >= LINE_EVERY_S:
            self._said_at = self._monotonic()
            self.say(text)

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()
