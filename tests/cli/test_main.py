import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from storyshelf.cli.lazy import LazyCommand, LazyGroup
from storyshelf.cli.main import COMMANDS, run
from storyshelf.errors import StoryshelfError

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_of_the_table_is_there_with_help(
    command: LazyCommand, capsys: Captured
) -> None:
    assert command.load().name == command.name
    assert run([command.name, "--help"]) == 0
    assert "Usage: storyshelf " + command.name in capsys.readouterr().out


def test_help_names_every_command_and_imports_none(capsys: Captured) -> None:
    probe = (
        "import sys; from storyshelf.cli.main import run; code = run(['--help']); "
        "print('MODULES', *[n for n in sys.modules if n.startswith('storyshelf.cli.')]); "
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert all(f" {command.name} " in done.stdout for command in COMMANDS)
    loaded = set(done.stdout.splitlines()[-1].split()[1:])
    assert loaded == {"storyshelf.cli.main", "storyshelf.cli.lazy"}


def test_no_words_at_all_are_answered_with_help(capsys: Captured) -> None:
    assert run([]) == 0
    assert "Usage: storyshelf" in capsys.readouterr().out


def test_the_version_is_printed(capsys: Captured) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip()


def test_a_command_wins_over_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "wait").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(["wait", "--help"]) == 0
    assert "Usage: storyshelf wait" in capsys.readouterr().out


def loud() -> None:
    raise RuntimeError("not foreseen")


def interrupted() -> None:
    raise KeyboardInterrupt


def refused() -> None:
    raise StoryshelfError("It is full.", where="/data", next_step="Make room.")


def decided() -> None:
    raise typer.Exit(3)


def program(function: Callable[[], None]) -> typer.Typer:
    made = typer.Typer(add_completion=False)
    made.command()(function)
    return made


@pytest.mark.parametrize(
    ("function", "code"), [(loud, 255), (interrupted, 130), (refused, 254), (decided, 3)]
)
def test_every_end_of_a_command_is_an_exit_code(function: Callable[[], None], code: int) -> None:
    assert run([], program(function)) == code


def test_a_refusal_says_what_where_and_what_next(capsys: Captured) -> None:
    run([], program(refused))
    assert capsys.readouterr().err == "Error: It is full (/data)\nMake room.\n"


@pytest.mark.parametrize(
    ("args", "command"),
    [(["accept"], "storyshelf accept"), (["wait", "1", "--no"], "storyshelf wait")],
)
def test_a_wrong_use_leads_to_the_help_of_its_command(
    args: list[str], command: str, capsys: Captured
) -> None:
    assert run(args) == 254
    assert f"Run `{command} --help`." in capsys.readouterr().err


def test_a_fault_of_ours_is_shown_whole_and_asks_for_a_report(capsys: Captured) -> None:
    run([], program(loud))
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "RuntimeError: not foreseen\nPlease report it" in err


def test_a_target_may_be_a_function_or_a_group() -> None:
    function = LazyCommand("loud", "tests.cli.test_main:loud", "Fail.").load()
    group = LazyCommand("nested", "tests.cli.test_main:nested", "More.").load()
    assert function.name == "loud"
    assert group.list_commands(typer.Context(group)) == ["loud"]


nested = typer.Typer()
nested.command("loud")(loud)


def test_an_unknown_name_is_no_command() -> None:
    class Group(LazyGroup):
        table = (LazyCommand("loud", "tests.cli.test_main:loud", "Fail."),)
        default = table[0]

    group = Group(name="test")
    context = typer.Context(group)
    assert group.get_command(context, "quiet") is None
    with pytest.raises(typer.BadParameter, match="neither a command nor a folder"):
        group.resolve_command(context, ["quiet"])
