"""The `storyshelf` program: its commands, and the one place where failures become exit codes.

To add a command, write `storyshelf/cli/<name>.py` with a function annotated for typer (or a
`typer.Typer` for a group like `db`), and add its line to COMMANDS.

Nothing is imported until the command runs, `--help` included, so `upload` and `wait` stay light.
A command raises `StoryshelfError` for what a person can mend and `typer.Exit(code)` for a verdict.
"""

import json
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from storyshelf.cli.lazy import LazyCommand, LazyGroup
from storyshelf.client.exit_codes import ExitCode, code_of_error
from storyshelf.client.version import own_version
from storyshelf.errors import StoryshelfError
from storyshelf.terminal import plain

DEFAULT = LazyCommand(
    "publish",
    "storyshelf.cli.upload:publish",
    "Upload a built Storybook and wait for the verdict (what `storyshelf DIR` does).",
)
COMMANDS = (
    DEFAULT,
    LazyCommand("upload", "storyshelf.cli.upload:upload", "Upload a built Storybook, do not wait."),
    LazyCommand("skip", "storyshelf.cli.skip:skip", "Have a commit's checks succeed as skipped."),
    LazyCommand("wait", "storyshelf.cli.wait:wait", "Wait for a build's verdict."),
    LazyCommand("accept", "storyshelf.cli.decide:accept", "Accept changes of a build."),
    LazyCommand("deny", "storyshelf.cli.decide:deny", "Deny changes of a build."),
    LazyCommand("undo", "storyshelf.cli.decide:undo", "Take decisions back."),
    LazyCommand("cancel", "storyshelf.cli.build:cancel", "End a build that has not ended."),
    LazyCommand(
        "capture-again", "storyshelf.cli.build:capture_again", "Capture an ended build anew."
    ),
    LazyCommand(
        "capture", "storyshelf.cli.capture:capture", "Capture a Storybook to a folder, no server."
    ),
    LazyCommand("up", "storyshelf.cli.up:up", "Start everything here, until Ctrl-C."),
    LazyCommand("serve", "storyshelf.cli.serve:serve", "Start the server alone."),
    LazyCommand("doctor", "storyshelf.cli.doctor:doctor", "Say what to mend on this machine."),
    LazyCommand("browsers", "storyshelf.cli.browsers:app", "List or install a browser."),
    LazyCommand("build", "storyshelf.cli.delete:app", "Delete builds."),
    LazyCommand("backup", "storyshelf.cli.backup:backup", "Save everything to one file."),
    LazyCommand("restore", "storyshelf.cli.backup:restore", "Bring a backup into a new folder."),
    LazyCommand("tidy", "storyshelf.cli.tidy:tidy", "Drop old builds, remove unused files."),
    LazyCommand("project", "storyshelf.cli.project:app", "Make projects and their tokens."),
    LazyCommand("user", "storyshelf.cli.user:app", "Make users, and give them roles."),
    LazyCommand("queue", "storyshelf.cli.queue:app", "See what waits, runs and failed."),
    LazyCommand("consumers", "storyshelf.cli.consumers:app", "See and steer who works."),
    LazyCommand("migrate", "storyshelf.cli.migrate:migrate", "Bring the database up to date."),
    LazyCommand("db", "storyshelf.cli.db:app", "Start, stop and look at the embedded database."),
)


class StoryshelfGroup(LazyGroup):
    """The commands of this program."""

    table = COMMANDS
    default = DEFAULT


app = typer.Typer(
    cls=StoryshelfGroup,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    subcommand_metavar="DIR | COMMAND [ARGS]...",
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # typer's shape of a callback
    if wanted:
        print(own_version())
        raise typer.Exit


@app.callback()
def describe(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Visual regression for Storybook, on your own machines.

    `storyshelf DIR` uploads a built Storybook, waits, and exits with the verdict.
    """


@dataclass(frozen=True, slots=True)
class _Failure:
    """What to say, and the code to leave with."""

    what: str
    where: str
    next_step: str
    exit_code: int


def main() -> None:
    """Run the command line of this process; the console script."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str], program: typer.Typer = app) -> int:
    """Run one command line and return its exit code; every failure is said, none escapes.

    With `--json` a failure too is one JSON document on stdout.
    """
    try:
        result: Any = typer.main.get_command(program)(
            list(args), prog_name="storyshelf", standalone_mode=False
        )
    except typer.TyperException as error:
        return _refuse_usage(error, args)
    except StoryshelfError as error:
        code = code_of_error(error)
        return _fail(_Failure(error.what, error.where, error.next_step, code), args)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:  # noqa: BLE001  # the outermost edge: what is left is our fault
        traceback.print_exc()
        what = f"Something that was not foreseen: {type(error).__name__}: {error}"
        return _fail(_Failure(what, "", "Please report it with the lines above.", 255), args)
    return result if isinstance(result, int) else ExitCode.OK


def _refuse_usage(error: typer.TyperException, args: Sequence[str]) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return ExitCode.OK
    context = getattr(error, "ctx", None)
    step = f"Run `{context.command_path if context else 'storyshelf'} --help`."
    failure = _Failure(error.format_message(), "the command line", step, ExitCode.INVALID_OPTIONS)
    return _fail(failure, args)


def _fail(failure: _Failure, args: Sequence[str]) -> int:
    if "--json" in args:
        words = {key: getattr(failure, key) for key in ("what", "where", "next_step")}
        print(json.dumps({"error": words, "exit_code": int(failure.exit_code)}, indent=2))
        return failure.exit_code
    place = f" ({failure.where})" if failure.where else ""
    print(plain(f"Error: {failure.what.rstrip('.')}{place}"), file=sys.stderr)
    if failure.next_step:
        print(plain(failure.next_step), file=sys.stderr)
    return failure.exit_code


if __name__ == "__main__":
    main()
