from pathlib import Path

import pytest

from storyshelf.cli import log_lines
from storyshelf.cli.log_lines import LogLines, make_room

STAMP = "2030-01-01T12:00:00.000000Z"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "consumer.log"


def write(log: Path, text: str) -> None:
    with log.open("a") as out:
        out.write(text)


@pytest.mark.parametrize(
    "line",
    [
        f"{STAMP} [warning  ] database.away   path=/",
        f"{STAMP} [error    ] child.died",
        '{"event": "child.died", "level": "error", "timestamp": "2030"}',
        "Traceback (most recent call last):",
        "Error: this machine cannot capture",
    ],
)
def test_what_somebody_has_to_act_on_is_loud(log: Path, line: str) -> None:
    lines = LogLines(log)
    write(log, f"{STAMP} [info     ] server.started\n{line}\n")
    assert lines.loud() == [line]


@pytest.mark.parametrize(
    "line",
    [
        f"{STAMP} [info     ] job.ended error=none",
        f"{STAMP} [debug    ] child.said    text='[error] in a story'",
        '{"event": "job.ended", "level": "info", "timestamp": "2030"}',
        "",
    ],
)
def test_what_goes_well_is_not(log: Path, line: str) -> None:
    lines = LogLines(log)
    write(log, f"{line}\n")
    assert lines.loud() == []


def test_what_was_written_before_is_not_told_again(log: Path) -> None:
    write(log, "an old trouble\n")
    lines = LogLines(log)
    write(log, "a new one\n")
    assert lines.loud() == ["a new one"]
    assert lines.loud() == []


def test_a_line_is_told_when_it_is_whole(log: Path) -> None:
    lines = LogLines(log)
    write(log, "it will n")
    assert lines.loud() == []
    write(log, "ot start\n")
    assert lines.loud() == ["it will not start"]


def test_a_log_that_grew_large_is_put_aside(log: Path) -> None:
    write(log, "x" * (log_lines.MAX_BYTES + 1))
    make_room(log)
    assert not log.exists()
    assert log.with_name("consumer.log.1").stat().st_size == log_lines.MAX_BYTES + 1


def test_a_log_of_usual_size_goes_on(log: Path) -> None:
    write(log, "x\n")
    make_room(log)
    assert log.read_text() == "x\n"
