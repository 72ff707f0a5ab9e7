from typing import Any

import pytest

from storyshelf.client.answers import Accessibility, Build, Obstacle, Progress, Snapshot, TimeLeft
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.steps import Step, step_of_build, step_of_hashing, step_of_sending
from storyshelf.client.summary import Line, clean, counts_sentence, summary, verdict_sentence
from storyshelf.client.upload import SentBytes
from tests.client.server import a_snapshot


def a_build(state: str = "pending", **fields: Any) -> Build:
    defaults: dict[str, Any] = {
        "number": 12,
        "url": "http://shelf.test/projects/demo/builds/12",
        "branch": "main",
        "commit": "c",
        "counts": {},
        "progress": Progress(done=0, total=0),
    }
    return Build(state=state, **{**defaults, **fields})


def snapshots(*raw: dict[str, Any]) -> list[Snapshot]:
    return [Snapshot.model_validate(one) for one in raw]


def test_a_summary_names_each_story_with_its_link_and_the_errors_words() -> None:
    error = {"code": "threw", "message": "Cannot read x\nat Card"}
    lines = summary(
        a_build("broken", counts={"errored": 1, "changed": 1, "unchanged": 3, "undecided": 1}),
        snapshots(
            a_snapshot("changed", "Primary", mode="320px", url="http://s/1", id=7),
            a_snapshot("errored", "Broken", url="http://s/2", error=error),
        ),
        ExitCode.ERRORS,
    )
    assert [line.text for line in lines] == [
        "Build 12 on main is broken: 1 snapshot not captured",
        "  http://shelf.test/projects/demo/builds/12",
        "",
        "Errored (1)",
        "  Button / Broken  http://s/2",
        "      Cannot read x",
        "      at Card",
        "",
        "Changed (1)",
        "  Button / Primary [320px]  http://s/1",
        "",
        "To decide: storyshelf accept 12 --all, or one by one: storyshelf deny 12 7",
        "",
        "5 snapshots: 3 unchanged, 1 changed, 1 errored",
        "Exit code 2",
    ]


def test_accessibility_stands_below_the_counts_where_somebody_looked() -> None:
    told = Accessibility(violations=12, new=1, fixed=3)
    lines = summary(a_build("passed", accessibility=told), [], ExitCode.OK)
    assert Line("Accessibility: 12 violations, 1 new, 3 fixed", "attention") in lines
    unknown = Accessibility(violations=1)
    lines = summary(a_build("passed", accessibility=unknown), [], ExitCode.OK)
    assert Line("Accessibility: 1 violation, 0 new, 0 fixed", "faint") in lines


def test_what_is_odd_about_the_storybook_stands_below_the_verdict() -> None:
    odd = ("A file did not load: ./b.js\x1b[2J",)
    lines = summary(a_build("passed", warnings=odd), [], ExitCode.OK)
    assert lines[2] == Line("Warning: A file did not load: ./b.js [2J", "attention")


@pytest.mark.parametrize(
    "lines",
    [
        summary(
            a_build("accepted", counts={"changed": 1, "accepted": 1}),
            snapshots(a_snapshot("changed", decision="accepted")),
            ExitCode.OK,
        ),
        summary(
            a_build("broken", counts={"errored": 1}), snapshots(a_snapshot("errored")), ExitCode.OK
        ),
    ],
)
def test_where_nothing_waits_nothing_is_said_of_deciding(lines: tuple[Line, ...]) -> None:
    assert not any("To decide" in line.text for line in lines)


@pytest.mark.parametrize("verdict", ["errored", "changed", "added", "removed", "unstable"])
def test_every_verdict_to_look_at_has_its_group(verdict: str) -> None:
    lines = summary(a_build(), snapshots(a_snapshot(verdict)), ExitCode.CHANGES)
    assert f"{verdict.capitalize()} (1)" in [line.text for line in lines]


def test_a_decision_is_shown_beside_the_story() -> None:
    lines = summary(a_build(), snapshots(a_snapshot("added", decision="accepted")), ExitCode.OK)
    assert any("Button / Primary (accepted)  http" in line.text for line in lines)


def test_a_long_error_is_cut() -> None:
    error = {"code": "threw", "message": "\n".join(f"line {number}" for number in range(99))}
    lines = summary(a_build(), snapshots(a_snapshot("errored", error=error)), ExitCode.ERRORS)
    assert sum("line " in line.text for line in lines) == 12


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (a_build("passed"), "passed: nothing changed"),
        (a_build("accepted"), "is accepted: every change was accepted"),
        (
            a_build("accepted", rule="first build"),
            "is accepted: the first build of a project is its baseline",
        ),
        (a_build("accepted", rule="bots"), "is accepted by rule: bots"),
        (a_build(counts={"undecided": 2}), "is pending: 2 changes to decide"),
        (a_build("denied", counts={"denied": 1}), "is denied: 1 change denied"),
        (a_build("failed", state_reason="the plan failed"), "is failed: the plan failed"),
        (a_build("cancelled"), "is cancelled"),
    ],
)
def test_a_state_is_said_in_a_sentence(build: Build, sentence: str) -> None:
    assert verdict_sentence(build) == sentence


def test_a_build_without_snapshots_says_so() -> None:
    assert counts_sentence(a_build()) == "0 snapshots: none"


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b31m", "a\nb", "\u202egnp", "a\u2028b"])
def test_a_name_cannot_move_the_terminals_cursor(hostile: str) -> None:
    assert clean(hostile).isprintable()
    lines = summary(a_build(), snapshots(a_snapshot("added", hostile, url="u")), ExitCode.OK)
    assert all(line.text.isprintable() for line in lines)


def test_hashing_counts_files() -> None:
    assert step_of_hashing(3, 9) == Step("Hashing", 3, 9, "3 of 9 files")


def test_sending_counts_files_and_says_bytes() -> None:
    step = step_of_sending(SentBytes(1, 4, 900, 2_500_000))
    assert step == Step("Uploading", 1, 4, "900 B of 2.5 MB")


def test_a_build_shows_its_state_its_count_and_the_time_left() -> None:
    progress = Progress(done=3, total=10, eta_s=TimeLeft(low=40, likely=61.4, high=125))
    assert step_of_build(a_build("capturing", progress=progress)) == Step(
        "Build 12", 3, 10, "capturing, 3 of 10 snapshots, about 1 min 1 s left (40 s to 2 min 5 s)"
    )


def test_a_build_without_an_estimate_promises_nothing() -> None:
    assert step_of_build(a_build("queued")) == Step("Build 12", 0, 0, "queued")


def test_a_build_that_nobody_moves_says_what_it_waits_for() -> None:
    waiting = Obstacle(what="No consumer takes plan jobs")
    step = step_of_build(a_build("queued", waits_for=waiting))
    assert step.detail == "queued: No consumer takes plan jobs"


def test_a_first_build_does_not_list_every_story_there_is() -> None:
    build = a_build("accepted", rule="first build")
    lines = summary(build, snapshots(a_snapshot("added"), a_snapshot("errored")), ExitCode.OK)
    told = [line.text for line in lines]
    assert "Errored (1)" in told
    assert "Added (1)" not in told
