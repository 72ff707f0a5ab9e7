import io
import json

import pytest
from rich.console import Console

from storyshelf.cli.live import live_output
from storyshelf.cli.output import LINE_EVERY_S, Format, JsonOutput, PlainOutput, choose_format
from storyshelf.client.steps import Step
from storyshelf.client.summary import Line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Watch:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def plain() -> tuple[PlainOutput, io.StringIO, Watch]:
    stream, watch = io.StringIO(), Watch()
    return PlainOutput(stream, watch), stream, watch


@pytest.mark.parametrize(
    ("stream", "environ", "form"),
    [
        (Terminal(), {}, Format.LIVE),
        (Terminal(), {"CI": "true"}, Format.LINES),
        (io.StringIO(), {}, Format.LINES),
    ],
)
def test_bars_are_for_people_at_a_terminal(
    stream: io.StringIO, environ: dict[str, str], form: Format
) -> None:
    assert choose_format(json_wanted=False, stream=stream, environ=environ) is form
    assert choose_format(json_wanted=True, stream=stream, environ=environ) is Format.JSON


def test_a_stage_is_told_at_its_begin_and_its_end() -> None:
    output, stream, _ = plain()
    for done in range(101):
        output.step(Step("Hashing", done, 100, f"{done} of 100 files"))
    assert stream.getvalue() == "Hashing: 0 of 100 files\nHashing: 100 of 100 files\n"


def test_a_long_stage_gives_signs_of_life() -> None:
    output, stream, watch = plain()
    for second in range(0, 61, 5):
        watch.now_s = float(second)
        output.step(Step("Build 1", second, 100, f"{second} of 100"))
    assert len(stream.getvalue().splitlines()) == 1 + 60 // LINE_EVERY_S


def test_the_same_line_is_not_repeated() -> None:
    output, stream, watch = plain()
    for minute in range(5):
        watch.now_s = minute * 60.0
        output.step(Step("Build 1", 0, 0, "queued"))
    assert stream.getvalue() == "Build 1: queued\n"


def test_lines_are_printed_whole_and_without_their_tones() -> None:
    output, stream, _ = plain()
    output.say([Line("x" * 500, "bad"), Line("")])
    assert stream.getvalue() == "x" * 500 + "\n\n"


def test_a_terminal_of_another_encoding_is_no_failure() -> None:
    raw = io.BytesIO()
    output = PlainOutput(io.TextIOWrapper(raw, encoding="ascii"), Watch())
    output.say([Line("größe")])
    assert raw.getvalue() == b"gr??e\n"


def test_json_is_the_document_and_nothing_else() -> None:
    stream = io.StringIO()
    output = JsonOutput(stream)
    output.step(Step("Hashing", 1, 1))
    output.say([Line("words")])
    output.result({"exit_code": 0})
    assert json.loads(stream.getvalue()) == {"exit_code": 0}


def test_bars_move_and_lines_above_them_are_not_wrapped_or_read_as_markup() -> None:
    stream = Terminal()
    console = Console(file=stream, width=80, force_terminal=True, highlight=False)
    link = "http://shelf.test/" + "long/" * 40
    with live_output(console) as output:
        output.step(Step("Uploading", 1, 2, "1 of 2 [files]"))
        output.step(Step("Uploading", 2, 2, "2 of 2 [files]"))
        output.say([Line(f"[bold]Button[/bold]  {link}", "attention")])
    assert f"[bold]Button[/bold]  {link}" in stream.getvalue()
    assert "2 of 2 [files]" in stream.getvalue()
