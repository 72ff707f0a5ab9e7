"""The process that the CLI starts: its arguments, its words on standard error, its exit code."""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import structlog

from consumer.local.progress import Progress
from consumer.local.refusing import INTERRUPTED, USAGE
from consumer.local.run import PAGE, Asked, Machine, capture, code_of
from consumer.local.session import Traces
from consumer.slot_uids import FIRST_UID
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.parameters import MAX_EDGE_PX, MIN_EDGE_PX, Viewport
from storyshelf.clock import SystemClock
from storyshelf.errors import StoryshelfError

OUT = Path("storyshelf-capture")
MAX_REPEAT, MAX_PARALLEL = 1_000, 64


def main(arguments: Sequence[str] | None = None) -> int:
    """Capture; print where the report is, and say everything else on standard error."""
    read = _parser().parse_args(arguments)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger("error"),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    clock = SystemClock()
    progress = Progress(sys.stderr, clock.monotonic)
    try:
        code = asyncio.run(capture(_asked(read), _machine(read), progress, clock))
    except StoryshelfError as error:
        progress.end()
        place = f" ({error.where})" if error.where else ""
        progress.say(f"Error: {error.what.rstrip('.')}{place}\n{error.next_step}".rstrip())
        return code_of(error)
    except asyncio.CancelledError:
        progress.end()
        progress.say("Stopped before anything was captured.")
        return INTERRUPTED
    sys.stdout.write(f"{read.out / PAGE}\n")
    return code


def _asked(read: argparse.Namespace) -> Asked:
    return Asked(
        storybook=read.folder,
        out=read.out,
        patterns=tuple(read.story),
        viewport=Viewport(read.width, read.height),
        repeat=read.repeat,
        parallel=1 if read.headed and read.parallel is None else read.parallel,
        timeout_ms=round(1_000 * read.timeout_s),
        traces=Traces.ODD if read.trace else Traces.NONE,
        accessibility=Accessibility.RECORD if read.accessibility else Accessibility.OFF,
    )


def _machine(read: argparse.Namespace) -> Machine:
    return Machine(
        browser=read.browser,
        scratch=Path(tempfile.gettempdir()),
        first_uid=read.first_uid,
        stories_per_child=read.stories_per_child,
        memory_bytes=None if read.memory_mb is None else read.memory_mb << 20,
        headed=read.headed,
        environ=os.environ,
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="storyshelf capture", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="a built Storybook")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    parser.add_argument("--story", action="append", default=[], help="id, or pattern")
    parser.add_argument("--repeat", type=_between(1, MAX_REPEAT), default=1)
    parser.add_argument("--headed", action="store_true")
    parser.add_argument("--accessibility", action="store_true", help="examine it too")
    parser.add_argument("--trace", action="store_true", help="of stories that go wrong")
    parser.add_argument("--parallel", type=_between(1, MAX_PARALLEL))
    edge = _between(MIN_EDGE_PX, MAX_EDGE_PX)
    parser.add_argument("--width", type=edge, default=Viewport().width_px)
    parser.add_argument("--height", type=edge, default=Viewport().height_px)
    parser.add_argument("--browser", type=Path, help="executable; else it is looked for")
    parser.add_argument("--first-uid", type=int, default=FIRST_UID, help="of the browsers")
    parser.add_argument("--timeout-s", type=float, default=60.0, help="of one story")
    parser.add_argument("--stories-per-child", type=int, default=500)
    parser.add_argument("--memory-mb", type=int, help="of one child; else derived")
    return parser


class _Parser(argparse.ArgumentParser):
    """Refuses as the CLI does, without a usage: that would list what people cannot give."""

    def error(self, message: str) -> NoReturn:
        problem = message.removeprefix("argument ")
        self.exit(USAGE, f"Error: {problem}\nRun `storyshelf capture --help`.\n")


class _between:  # noqa: N801  # argparse names a type in its message by this
    """Parses a whole number within two bounds."""

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def __call__(self, text: str) -> int:
        number = int(text)
        if not self._least <= number <= self._most:
            raise argparse.ArgumentTypeError(f"{text} is not from {self._least} to {self._most}")
        return number


if __name__ == "__main__":
    sys.exit(main())
