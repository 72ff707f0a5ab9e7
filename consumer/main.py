"""The `storyshelf-consumer` program."""

import asyncio
import sys

from consumer.launcher import run_consumer
from consumer.wiring import read_frame
from storyshelf.errors import StoryshelfError
from storyshelf.queue.failpoint import Failpoint, no_failpoint

EXIT_UNFIT = 3  # a supervisor need not try again until something was mended


def main(failpoint: Failpoint = no_failpoint) -> None:
    """Run a consumer until a signal ends it."""
    try:
        asyncio.run(run_consumer(read_frame(failpoint)))
    except* StoryshelfError as group:
        for error in _leaves(group):
            sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(EXIT_UNFIT) from None


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for each in group.exceptions
        for leaf in (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    ]


if __name__ == "__main__":
    main()
