"""The `storyshelf-consumer` program."""

import argparse
import asyncio
import sys

from consumer.launcher import run_consumer
from consumer.wiring import read_frame
from storyshelf.errors import StoryshelfError
from storyshelf.queue.failpoint import Failpoint, no_failpoint

EXIT_UNFIT = 3  # a supervisor need not try again until something was mended


def main() -> None:
    """Run the program: it takes settings and no arguments, and says so where it is asked."""
    argparse.ArgumentParser(
        prog="storyshelf-consumer",
        description="Claim jobs and capture pictures until a signal ends it: TERM gives unfinished"
        " jobs back, TSTP lets it finish what it has and claim no more.",
        epilog="It is set up by STORYSHELF_* variables in the environment, as the server is; the"
        " README lists them. `storyshelf doctor` tries whether this machine can capture.",
    ).parse_args()
    run()


def run(failpoint: Failpoint = no_failpoint) -> None:
    """Run a consumer until a signal ends it; raises SystemExit with its code."""
    try:
        code = asyncio.run(run_consumer(read_frame(failpoint)))
    except* StoryshelfError as group:
        for error in _leaves(group):
            sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(EXIT_UNFIT) from None
    raise SystemExit(code)


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for each in group.exceptions
        for leaf in (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    ]


if __name__ == "__main__":
    main()
