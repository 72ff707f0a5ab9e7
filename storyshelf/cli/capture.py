"""`storyshelf capture`: pictures of a built Storybook in a folder, without a server."""

import signal
import subprocess
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from storyshelf.settings import Settings, read_settings

PAGE = "index.html"
NOTHING_BEGUN = (2, 3)  # exit codes with which there is no report


def capture(  # noqa: PLR0913  # each is an option of the command
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built Storybook.")],
    *,
    out: Annotated[
        Path, typer.Option(help="Folder to write to; an earlier capture's is replaced.")
    ] = Path("storyshelf-capture"),
    story: Annotated[
        list[str] | None,
        typer.Option(help="Only this story: an id, or a pattern of ids or Title/Name. Repeatable."),
    ] = None,
    repeat: Annotated[
        int, typer.Option(help="Capture each so often, in fresh pages, and say which move.")
    ] = 1,
    parallel: Annotated[
        int | None, typer.Option(help="Browsers at once; otherwise as many as fit.")
    ] = None,
    width: Annotated[int, typer.Option(help="Of stories that ask for no viewport, px.")] = 1280,
    height: Annotated[int, typer.Option(help="Of their window, px.")] = 720,
    headed: Annotated[
        bool, typer.Option("--headed", help="Show the browser; needs a full Chromium.")
    ] = False,
    accessibility: Annotated[
        bool, typer.Option("--accessibility", help="Say which accessibility rules stories break.")
    ] = False,
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Record a trace of each story that is errored or unstable."),
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the report when it is done.")
    ] = False,
) -> None:
    """Capture a built Storybook here, as a consumer would: pictures, report.json and a page.

    Exit codes: 0 all ok; 1 a story is errored, or moved; 2 DIR, the folder or an option is no use;
    3 no browser; 130 stopped, with a report of what was done.
    """
    wishes = [f"--out={out}", f"--repeat={repeat}", f"--width={width}", f"--height={height}"]
    wishes += [f"--story={pattern}" for pattern in story or ()]
    wishes += [] if parallel is None else [f"--parallel={parallel}"]
    wishes += ["--headed"] if headed else []
    wishes += ["--trace"] if trace else []
    wishes += ["--accessibility"] if accessibility else []
    code = _carry_out([*command(read_settings()), *wishes, "--", str(folder)])
    if open_page and code not in NOTHING_BEGUN and (out / PAGE).is_file():
        webbrowser.open((out / PAGE).resolve().as_uri())
    raise typer.Exit(code)


def command(settings: Settings) -> Sequence[str]:
    """Return how the consumer's part is started, a process: the CLI does not know its parts."""
    argv = [*(sys.executable, "-P", "-m", "consumer.local")]
    argv += ["--first-uid", str(settings.slot_uid_base)]
    argv += ["--timeout-s", str(settings.story_timeout_s)]
    argv += ["--stories-per-child", str(settings.stories_per_child)]
    if settings.browser_path is not None:
        argv += ["--browser", str(settings.browser_path)]
    if settings.child_memory_mb is not None:
        argv += ["--memory-mb", str(settings.child_memory_mb)]
    return argv


def _carry_out(argv: Sequence[str]) -> int:
    """Run it to its end; a stop is its to obey, since it writes the report of what is there."""
    process = subprocess.Popen(argv)
    with _passing_on(process):
        code = process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _passing_on(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Pass INT and TERM on: it hears the terminal's too, and takes only the first to heart."""

    def hear(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
