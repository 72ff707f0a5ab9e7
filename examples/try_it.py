"""Shows storyshelf at work on the example Storybook: `make up`, or `python -m examples.try_it`.

Starts everything (or uses what runs), uploads the example as it is and with its coming look, checks
that both builds end as they must, prints the links and stays up until Ctrl-C. `ONCE=1` ends after
the check, with 0 if all was as expected; `BROKEN=1` breaks a story of the second build.
"""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from examples.expected import Ended, Expectation, base_look, broken_look, next_look
from examples.running import PROGRAM, Running, running
from storyshelf.errors import StoryshelfError
from tests.storybook_builds import Look, build_example

BRANCH = "main"


def main() -> int:
    """Return 0 if everything was as expected, else 1."""
    signal.signal(signal.SIGTERM, _leave)
    try:
        steps = _steps()
        with running() as storyshelf:
            return _show(storyshelf, steps)
    except StoryshelfError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0 if not _is_on("ONCE") else 1


def _steps() -> Sequence[tuple[Path, Expectation]]:
    """Build both Storybooks; quick when nothing changed since the last time."""
    print("Building the example Storybook, as it is and as it is to be.", end=" ")
    print("It takes up to a minute, once.", flush=True)
    base = build_example()
    if _is_on("BROKEN"):
        return (base, base_look()), (build_example(Look.NEXT_BROKEN), broken_look())
    return (base, base_look()), (build_example(Look.NEXT), next_look())


def _show(storyshelf: Running, steps: Sequence[tuple[Path, Expectation]]) -> int:
    is_decided = storyshelf.has_decisions(BRANCH)
    ended = [_captured(storyshelf, folder, expectation) for folder, expectation in steps]
    print("\n".join(line for one in ended for line in one.lines()))
    wrong = [] if is_decided else [problem for one in ended for problem in one.problems()]
    wrong += [problem for one in ended for problem in storyshelf.page_problems(one.build)]
    if is_decided:
        print("Changes were accepted here before: what these builds came to is not checked.")
    print("\n".join(f"NOT AS EXPECTED: {problem}" for problem in wrong), end="\n" if wrong else "")
    number, url = ended[-1].build["number"], ended[-1].build["url"]
    print(f"\n  look     {url}\n  decide   {_typed()} accept {number} --all", flush=True)
    if not _is_on("ONCE"):
        print(f"  sign in  {storyshelf.sign_in_link(ended[-1].build)}")
        print("           works once, within 24 hours, and shows the build", flush=True)
    if not storyshelf.is_ours:
        print("\nIt ran before and goes on running.", flush=True)
    elif _is_on("ONCE"):
        print("\nIt stops now. `make up` without ONCE brings these pages back.", flush=True)
    else:
        print("  stop     Ctrl-C\n", flush=True)
        storyshelf.stay()
    return 1 if wrong else 0


def _captured(storyshelf: Running, folder: Path, expectation: Expectation) -> Ended:
    print(f"\n$ {_typed()} {os.path.relpath(folder)}", flush=True)
    commit = secrets.token_hex(20)  # as if it had been pushed just now: a build of its own
    code = subprocess.run(
        [
            *storyshelf.command(str(folder)),
            *("--commit", commit, "--branch", BRANCH, "--message", expectation.title),
        ],
        env=storyshelf.environment,
        check=False,
    ).returncode
    build = storyshelf.build_of(commit)
    return Ended(expectation, folder, code, build, storyshelf.snapshots_of(build))


def _typed() -> str:
    """Return how the program is typed here, with the folder it has to look into."""
    chosen = os.environ.get("STORYSHELF_DATA_DIR")
    return (f"STORYSHELF_DATA_DIR={chosen} " if chosen else "") + os.path.relpath(PROGRAM)


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in {"", "0", "no", "false"}


def _leave(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
