"""`make up` notices when the example does not end as it must."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.expected import BROKEN_STORY, Ended, Expectation, base_look, broken_look, next_look

BADGES = ("folio-badge--neutral", "folio-badge--warning")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A built Storybook of two badges, their docs page and another story."""
    entries = [
        *({"id": badge, "type": "story", "title": "Folio/Badge"} for badge in BADGES),
        {"id": "folio-badge--docs", "type": "docs", "title": "Folio/Badge"},
        {"id": "folio-avatar--group", "type": "story", "title": "Folio/Avatar"},
    ]
    index = {"v": 5, "entries": {entry["id"]: entry for entry in entries}}
    (tmp_path / "index.json").write_text(json.dumps(index))
    return tmp_path


def a_build(state: str, undecided: int = 0, rule: str | None = None) -> dict[str, Any]:
    counts = {"undecided": undecided, "accepted": 0}
    return {"number": 2, "state": state, "state_reason": None, "rule": rule, "counts": counts}


def a_change(story_id: str) -> dict[str, Any]:
    return {"story_id": story_id, "verdict": "changed", "title": "", "name": "", "error": None}


def an_error(message: str = "TypeError: no list") -> dict[str, Any]:
    title, _, name = BROKEN_STORY.partition(" / ")
    error = {"code": "render", "message": message}
    told = {"title": title, "name": name, "error": error}
    return {"story_id": "folio-avatar--group", "verdict": "errored", **told}


CHANGES = [a_change(badge) for badge in BADGES]


Ending = tuple[Expectation, int, dict[str, Any], list[dict[str, Any]]]


@pytest.mark.parametrize(
    "ending",
    [
        (base_look(), 0, a_build("accepted", rule="first build"), []),
        (base_look(), 0, a_build("passed"), []),
        (next_look(), 1, a_build("pending", 2), CHANGES),
        (broken_look(), 2, a_build("broken", 2), [*CHANGES, an_error()]),
    ],
)
def test_what_is_right_is_no_problem(folder: Path, ending: Ending) -> None:
    expectation, exit_code, build, snapshots = ending
    ended = Ended(expectation, folder, exit_code, build, snapshots)
    assert ended.problems() == []
    assert f"exit code {exit_code}, {build['state']}: " in ended.lines()[0]


@pytest.mark.parametrize(
    ("ending", "problem"),
    [
        ((base_look(), 0, a_build("accepted"), []), "it is accepted by None"),
        ((base_look(), 0, a_build("pending"), []), "it is pending, not accepted or passed"),
        ((base_look(), 0, a_build("passed"), [an_error()]), "errored are ['folio-avatar--group']"),
        ((next_look(), 0, a_build("pending", 2), CHANGES), "the exit code is 0, not 1"),
        (
            (next_look(), 1, a_build("pending", 2), CHANGES[:1]),
            "changed are ['folio-badge--neutral']",
        ),
        ((next_look(), 1, a_build("pending", 1), CHANGES), "1 can be decided, not 2"),
        ((broken_look(), 2, a_build("broken", 2), CHANGES), "errored are []"),
        ((broken_look(), 2, a_build("broken", 2), [*CHANGES, an_error("")]), "errored are ["),
        ((broken_look(), 2, a_build("broken"), [*CHANGES, an_error()]), "0 can be decided, not 2"),
    ],
)
def test_each_deviation_is_named(folder: Path, ending: Ending, problem: str) -> None:
    expectation, exit_code, build, snapshots = ending
    (found,) = Ended(expectation, folder, exit_code, build, snapshots).problems()
    assert found.startswith(f"build 2: {problem}")
