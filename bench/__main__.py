"""`python -m bench NAME [--quick]`: run one bench; its last line is one JSON document."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench import capture, main_flow, queue, scale, soak, survival
from bench.chaos import running as chaos
from bench.report import Length, Report
from storyshelf.errors import StoryshelfError


@dataclass(frozen=True, slots=True)
class Bench:
    """A bench prints its table as it goes, and returns what is printed last."""

    says: str
    run: Callable[[Length], Report]


BENCHES: Mapping[str, Bench] = {
    "capture": Bench("captures beside storycap, test-runner and the browser's limit", capture.run),
    "chaos": Bench("faults on purpose; what was lost, doubled or settled by a stranger", chaos.run),
    "main_flow": Bench("stories per second from seal to verdict, and where they go", main_flow.run),
    "queue": Bench("the queue beside PgQueuer and Procrastinate on one PostgreSQL", queue.run),
    "scale": Bench("claims, page and memory with a million jobs and 200 consumers", scale.run),
    "soak": Bench("a steady rate with retries and cancels; what rises meanwhile", soak.run),
    "survival": Bench("1,000 stories, one in ten does its worst; what became of all", survival.run),
}


def arguments(typed: Sequence[str]) -> argparse.Namespace:
    """Parse what was typed; a name that is none ends with the list of those that are."""
    listed = "\n".join(f"  {name:<12} {bench.says}" for name, bench in BENCHES.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"benches:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=BENCHES, metavar="NAME", help="one of the above")
    parser.add_argument(
        "--quick",
        action="store_const",
        const=Length.QUICK,
        default=Length.FULL,
        dest="length",
        help="within 5 minutes",
    )
    return parser.parse_args(typed)


def main(typed: Sequence[str]) -> int:
    """Run the bench; returns 1 if it could not be run, or what had to hold did not."""
    asked = arguments(typed)
    try:
        report = BENCHES[asked.name].run(asked.length)
    except StoryshelfError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    print(report.last_line(), flush=True)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
