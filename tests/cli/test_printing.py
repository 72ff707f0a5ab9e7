"""What people read in a terminal does not steer it, whoever said it."""

import io

import pytest
from rich.console import Console

from storyshelf.cli.live import live_output
from storyshelf.cli.main import run
from storyshelf.cli.output import PlainOutput
from storyshelf.cli.printing import print_lines
from storyshelf.client.summary import Line
from storyshelf.terminal import plain
from tests.cli.captured import Captured


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("fine\rfake", r"fine\rfake"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("one\u2028two", r"one\u2028two"),
    ],
)
def test_what_would_steer_a_terminal_is_shown_instead(said: str, printed: str) -> None:
    assert plain(said) == printed


@pytest.mark.parametrize("said", ["Größe 12 px", "👩\u200d💻", "a\u00a0b", "two\n\tlines", "שלום"])
def test_other_text_is_printed_as_it_is(said: str) -> None:
    assert plain(said) == said


def test_lines_are_printed_plain(capsys: Captured) -> None:
    print_lines(["\x1b[2J", "two"])
    assert capsys.readouterr().out == "\\x1b[2J\ntwo\n"


def test_a_log_is_written_plain() -> None:
    stream = io.StringIO()
    PlainOutput(stream, lambda: 0.0).say([Line("story \x1b[8m")])
    assert stream.getvalue() == "story \\x1b[8m\n"


def test_what_is_said_above_the_bars_is_plain() -> None:
    stream = io.StringIO()
    with live_output(Console(file=stream, width=80)) as output:
        output.say([Line("story \x1b[8m")])
    assert "story \\x1b[8m" in stream.getvalue()


def test_an_error_is_told_plain(capsys: Captured) -> None:
    assert run(["consumers", "\x1b[2J"]) != 0
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "\\x1b[2J" in told
