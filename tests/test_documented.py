"""What can be set, called or made is in the README."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from storyshelf.cli.main import app
from storyshelf.settings import PREFIX, Settings

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text()


def commands(*words: str) -> Iterator[tuple[str, ...]]:
    """Yield every command below the words, as the words to type; a group may be one itself."""
    loaded = reached(*words)
    if not isinstance(loaded, TyperGroup):
        yield words
        return
    if words and loaded.invoke_without_command:
        yield words
    for name in loaded.list_commands(typer.Context(loaded)):
        yield from commands(*words, name)


def reached(*words: str) -> Any:
    """Return what the program would run for the words; commands are imported when they run."""
    command: Any = typer.main.get_command(app)
    for word in words:
        _, command, _ = command.resolve_command(typer.Context(command), [word])
    return command


def missing(wanted: set[str]) -> set[str]:
    """Return what no table row of the README begins with."""
    first_cells = re.findall(r"^\| `([^`]+)`", README, re.MULTILINE)
    return {name for name in wanted if not any(is_row_of(name, cell) for cell in first_cells)}


def is_row_of(name: str, cell: str) -> bool:
    return cell == name or cell.startswith(f"{name} ")


def test_every_setting_has_its_row() -> None:
    assert missing({f"{PREFIX}{name}".upper() for name in Settings.model_fields}) == set()


def test_every_command_has_its_row() -> None:
    typed = {" ".join(("storyshelf", *words)) for words in commands()}
    assert len(typed) >= 8
    assert missing(typed) == set()


def test_every_task_has_its_row() -> None:
    targets = re.findall(r"^([a-z]+):", (TOP / "Makefile").read_text(), re.MULTILINE)
    assert len(targets) >= 8
    assert missing({f"make {target}" for target in targets}) == set()


def test_every_setting_of_the_readme_exists() -> None:
    told = set(re.findall(rf"^\| `({PREFIX}\w+)`", README, re.MULTILINE))
    assert told - {f"{PREFIX}{name}".upper() for name in Settings.model_fields} == set()


def test_every_command_of_the_readme_exists() -> None:
    told = set(re.findall(r"^\| `storyshelf ([a-z -]+[a-z])", README, re.MULTILINE))
    assert told - {" ".join(words) for words in commands()} == set()
