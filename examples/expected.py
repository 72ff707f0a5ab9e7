"""What the builds of the example must come to, and how one that ended compares with that."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHANGED_COMPONENT = "Folio/Badge"  # the one component that the coming look changes
BROKEN_STORY = "Folio/Avatar / Group"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The states that are right, their exit code, and the stories that are told of."""

    title: str
    states: tuple[str, ...]
    exit_code: int
    changed_component: str | None = None
    broken_story: str | None = None


def base_look() -> Expectation:
    """Return what the example as it is comes to: at first a baseline, later nothing new."""
    return Expectation("The example as it is", ("accepted", "passed"), 0)


def next_look() -> Expectation:
    """Return what the coming look comes to."""
    return Expectation("Badge gets its coming look", ("pending",), 1, CHANGED_COMPONENT)


def broken_look() -> Expectation:
    """Return what the coming look with a story that throws comes to."""
    title = "Badge gets its coming look, and a story is broken"
    return Expectation(title, ("broken",), 2, CHANGED_COMPONENT, BROKEN_STORY)


@dataclass(frozen=True, slots=True)
class Ended:
    """A build that ended, with the exit code that its upload had."""

    expectation: Expectation
    folder: Path
    exit_code: int
    build: Mapping[str, Any]
    snapshots: Sequence[Mapping[str, Any]]

    def lines(self) -> list[str]:
        """Say what came out and what the code means."""
        number, state = self.build["number"], self.build["state"]
        return [f"\nBuild {number}: exit code {self.exit_code}, {state}: {self._meaning()}"]

    def problems(self) -> list[str]:
        """Return what is not as it must be, a sentence each."""
        wanted, state = self.expectation, self.build["state"]
        checks = [
            (state in wanted.states, f"it is {state}, not {' or '.join(wanted.states)}"),
            (self._is_first() == (state == "accepted"), f"it is {state} by {self.build['rule']}"),
            (
                self.exit_code == wanted.exit_code,
                f"the exit code is {self.exit_code}, not {wanted.exit_code}",
            ),
            (
                self._ids("changed") == self._ids_to_change(),
                f"changed are {sorted(self._ids('changed'))}",
            ),
            (self._errors_are_right(), f"errored are {sorted(self._ids('errored'))}"),
            (
                self._undecided() == len(self._ids_to_change()),
                f"{self._undecided()} can be decided, not {len(self._ids_to_change())}",
            ),
        ]
        number = self.build["number"]
        return [f"build {number}: {problem}" for is_right, problem in checks if not is_right]

    def _meaning(self) -> str:
        changes = f"{len(self._ids('changed'))} changes to decide"
        match self.build["state"]:
            case "accepted" if self._is_first():
                return "by the rule `first build`, which makes a project's first baselines"
            case "accepted" | "passed":
                return "nothing is left to decide"
            case "pending":
                return changes
            case "broken":
                return f"{len(self._ids('errored'))} story not captured; {changes} all the same"
            case _:
                return self.build["state_reason"] or "see its page"

    def _is_first(self) -> bool:
        return bool(self.build["rule"] == "first build")

    def _errors_are_right(self) -> bool:
        errored = [one for one in self.snapshots if one["verdict"] == "errored"]
        told = {f"{one['title']} / {one['name']}" for one in errored if one["error"]["message"]}
        broken = self.expectation.broken_story
        return len(told) == len(errored) and told == ({broken} if broken else set())

    def _undecided(self) -> int:
        return int(self.build["counts"]["undecided"])

    def _ids(self, verdict: str) -> set[str]:
        return {one["story_id"] for one in self.snapshots if one["verdict"] == verdict}

    def _ids_to_change(self) -> set[str]:
        """Return every story of the component that changes, from the Storybook's own index."""
        entries = json.loads((self.folder / "index.json").read_text())["entries"].values()
        component = self.expectation.changed_component
        stories = (entry for entry in entries if entry["type"] == "story")
        return {entry["id"] for entry in stories if entry["title"] == component}
