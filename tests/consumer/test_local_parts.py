"""What captures to a folder are made of: names, the folder, the choice, the order, the findings."""

import io
import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.browsers import Browser, BrowserKind, BrowserSearch, BrowserSource
from consumer.local.headed import NoWindowError, find_headed, with_window
from consumer.local.names import frame_of, stem_of
from consumer.local.out_folder import (
    MARK,
    FolderInUseError,
    NotOurFolderError,
    OutFolder,
    UnusableFolderError,
    open_out,
)
from consumer.local.page import page_of
from consumer.local.planning import Planned, plan, shuffled
from consumer.local.progress import Progress
from consumer.local.report import Fault, Line, Report, State, StoryResult, Told
from consumer.local.storybook import NoStorybookError, NoSuchStoryError, choose, read_storybook
from consumer.local.tally import KEPT_FRAMES, Tally
from consumer.messages import (
    Box,
    Captured,
    Compared,
    CompareOptions,
    Ending,
    ErrorCode,
    Page,
    Size,
    StoryError,
    StoryWarning,
    WarningCode,
)
from storyshelf.bundle.index import NoStoriesError, Story
from storyshelf.bundle.parameters import ReadParameters, StoryParameters, Viewport
from storyshelf.diff.outcome import Outcome
from storyshelf.ids import StoryId

HOSTILE = ["../../etc/passwd", "/etc/passwd", "a\0b", "..", ".", "a/b", "a\\b", "con:x", "\ud800"]
HOSTILE += ["e\u0301", "\u00e9" * 200, "x" * 900, "Upper", " ", "a\nb", "a@b", "a~frame-2", ".git"]


def a_story(story_id: str, title: str = "Button") -> Story:
    return Story(StoryId(story_id), title, "Primary")


def a_plan(*ids: str) -> tuple[Planned, ...]:
    return plan([a_story(one) for one in ids], {}, Viewport(), frozenset())


def result(**fields: object) -> StoryResult:
    story = Tally(a_plan("button--primary")[0]).result()
    return replace(story, **fields)  # type: ignore[arg-type]  # a field of the result


def a_report(*stories: StoryResult) -> Report:
    return Report(
        made_at="2026-01-01T00:00:00+00:00",
        complete=True,
        storybook="dist",
        repeat=1,
        took_ms=900,
        environment={},
        notes=(),
        stories=stories,
        version="1.0",
    )


def pictures_in(folder: Path) -> int:
    return len(list(folder.glob("*.png")))


def captured(png: bytes = b"one", *, errored: bool = False, **fields: object) -> Captured:
    error = StoryError(ErrorCode.PLAY_FAILED, "expected 3", "at x") if errored else None
    ending = Ending.ERRORED if errored else Ending.OK
    shot = Captured(1, StoryId("a"), ending, error, (), 20, 10, {"open": 4.0}, png)
    return replace(shot, **fields)  # type: ignore[arg-type]  # a field of the message


async def differing(options: CompareOptions, base: bytes, head: bytes) -> Compared:
    return Compared(1, Outcome.CHANGED, "", Size(20, 10), Size(20, 10), 6, 6, 0, 0,
                    (Box(2, 3, 3, 2),), "e", "1", "m", 0, 0)  # fmt: skip


async def tallied(out: OutFolder, shots: Sequence[Captured]) -> StoryResult:
    tally = Tally(a_plan("a")[0])
    for shot in shots:
        await tally.add(shot, 10.0, out, differing)
    return tally.result()


@pytest.mark.parametrize("name", HOSTILE)
def test_an_odd_name_is_a_plain_file_name(name: str) -> None:
    stem = stem_of(StoryId(name), name)
    frame = frame_of(stem, 2)
    assert Path(frame).name == frame
    assert not frame.startswith((".", "-"))
    assert frame.isprintable()
    assert len(frame.encode()) < 255


def test_names_differ_where_a_disk_tells_neither_case_nor_composition() -> None:
    stems = [stem_of(StoryId(name), "default") for name in (*HOSTILE, "upper", "\u00e9", "a-b")]
    assert len({stem.casefold() for stem in stems}) == len(stems)


def test_an_ordinary_name_stays_as_it_is() -> None:
    assert stem_of(StoryId("button--primary"), "default") == "button--primary"
    assert stem_of(StoryId("дом--окно"), "320px") == "дом--окно@320px"


def test_our_own_folder_is_replaced(tmp_path: Path) -> None:
    with open_out(tmp_path / "out", tmp_path / "dist") as out:
        out.write("old.png", b"old")
    with open_out(tmp_path / "out", tmp_path / "dist") as out:
        out.write("new.png", b"new")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {MARK, "new.png"}


@pytest.mark.parametrize("before", [(), ("a.png",)])
def test_what_is_not_ours_is_never_removed(tmp_path: Path, before: Sequence[str]) -> None:
    folder = tmp_path / "out"
    with open_out(folder, tmp_path / "dist") as out:
        for name in before:
            out.write(name, b"a")
    (folder / "notes.txt").write_text("mine")
    with (
        pytest.raises(NotOurFolderError, match=r"notes\.txt"),
        open_out(folder, tmp_path / "dist"),
    ):
        pass
    assert (folder / "notes.txt").read_text() == "mine"
    assert pictures_in(folder) == len(before)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with (
        pytest.raises(NotOurFolderError, match=r"index\.html"),
        open_out(tmp_path, tmp_path / "dist"),
    ):
        pass
    assert (tmp_path / "index.html").read_text() == "mine"


def test_a_mark_that_names_files_elsewhere_leads_nowhere(tmp_path: Path) -> None:
    folder, mine = tmp_path / "out", tmp_path / "mine.txt"
    folder.mkdir()
    mine.write_text("mine")
    (folder / MARK).write_text(f"../mine.txt\n{mine}\nsub/x\n")
    with open_out(folder, tmp_path / "dist"):
        pass
    assert mine.read_text() == "mine"


def test_a_mark_that_is_a_link_is_no_mark(tmp_path: Path) -> None:
    folder, mine = tmp_path / "out", tmp_path / "mine.txt"
    folder.mkdir()
    mine.write_text("mine")
    (folder / MARK).symlink_to(mine)
    with pytest.raises(NotOurFolderError), open_out(folder, tmp_path / "dist"):
        pass
    assert mine.read_text() == "mine"


def test_two_captures_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with open_out(tmp_path / "out", tmp_path / "dist") as out:
        out.write("a.png", b"a")
        with pytest.raises(FolderInUseError), open_out(tmp_path / "out", tmp_path / "dist"):
            pass
        assert out.read("a.png") == b"a"


@pytest.mark.parametrize("where", [".", "inside"])
def test_the_storybook_is_not_written_into(tmp_path: Path, where: str) -> None:
    with pytest.raises(UnusableFolderError, match="inside"), open_out(tmp_path / where, tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableFolderError), open_out(tmp_path / "file" / "out", tmp_path / "x"):
        pass


def test_what_is_no_built_storybook_is_refused_with_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(NoStorybookError, match="npx storybook build"):
        read_storybook(tmp_path, lambda done, total: None)
    (tmp_path / "storybook-static").mkdir()
    for name in ("iframe.html", "index.json"):
        (tmp_path / "storybook-static" / name).write_text("{}")
    with pytest.raises(NoStorybookError, match=r"capture .*storybook-static"):
        read_storybook(tmp_path, lambda done, total: None)
    with pytest.raises(NoStorybookError, match="no such folder"):
        read_storybook(tmp_path / "gone", lambda done, total: None)
    with pytest.raises(NoStorybookError, match="not a folder"):
        read_storybook(tmp_path / "package.json", lambda done, total: None)


def test_a_storybook_without_stories_is_refused(tmp_path: Path) -> None:
    (tmp_path / "iframe.html").write_text("")
    (tmp_path / "index.json").write_text(json.dumps({"v": 5, "entries": {}}))
    with pytest.raises(NoStoriesError):
        read_storybook(tmp_path, lambda done, total: None)


def test_stories_are_chosen_by_id_by_pattern_and_by_title() -> None:
    stories = [a_story("button--a"), a_story("button--b"), a_story("card--[x]", "Card")]
    ids = [story.story_id for story in stories]
    assert [one.story_id for one in choose(stories, [])] == ids
    assert [one.story_id for one in choose(stories, ["*--b", "card--[x]"])] == ids[1:]
    assert [one.story_id for one in choose(stories, ["Card/*"])] == ids[2:]


def test_a_pattern_that_matches_nothing_names_what_is_near() -> None:
    with pytest.raises(NoSuchStoryError, match="button--primary"):
        choose([a_story("button--primary"), a_story("x--y")], ["buton--primary"])


def test_the_size_of_the_command_line_is_that_of_stories_that_name_none() -> None:
    asks = ReadParameters(StoryParameters(viewports=(Viewport(320),), delay_ms=40))
    stories = [a_story("a"), a_story("b")]
    planned = plan(stories, {StoryId("b"): asks}, Viewport(500, 400), frozenset())
    requests = [one.request(Page.SHARED, 1_000) for one in planned]
    sizes = [(one.viewport_width_px, one.viewport_height_px) for one in requests]
    assert sizes == [(500, 400), (320, 720)]
    assert [one.stem for one in planned] == ["a", "b@320px"]
    assert [one.timeout_ms for one in requests] == [1_000, 1_040]


def test_a_story_that_is_off_is_captured_where_its_very_id_is_named() -> None:
    off = {StoryId("a"): ReadParameters(StoryParameters(disable_snapshot=True))}
    (skipped,) = plan([a_story("a")], off, Viewport(), frozenset({"*"}))
    (wanted,) = plan([a_story("a")], off, Viewport(), frozenset({"a"}))
    assert (bool(skipped.skipped), bool(wanted.skipped)) == (True, False)


def test_each_round_has_an_order_of_its_own_and_the_same_the_next_time() -> None:
    planned = a_plan(*(f"story--{number}" for number in range(20)))
    orders = [shuffled(planned, number) for number in range(3)]
    assert orders[0] == planned
    assert len({tuple(one.stem for one in order) for order in orders}) == 3
    assert shuffled(planned, 2) == orders[2]
    assert {one.stem for one in orders[2]} == {one.stem for one in planned}


async def test_equal_pictures_are_one_and_do_not_move(tmp_path: Path) -> None:
    found = await tallied(OutFolder(tmp_path), [captured()] * 3)
    assert (found.state, found.moved, found.shots, len(found.frames)) == (State.OK, False, 3, 1)
    assert (found.picture, found.timings_ms, found.how) == ("a.png", {"open": 4.0}, "")


async def test_different_pictures_are_counted_and_the_moving_region_named(tmp_path: Path) -> None:
    shots = [captured(), captured(b"two"), captured(), captured(b"three", width_px=22)]
    found = await tallied(OutFolder(tmp_path), shots)
    assert [(one.file, one.times) for one in found.frames] == [
        ("a.png", 2), ("a~frame-2.png", 1), ("a~frame-3.png", 1)
    ]  # fmt: skip
    assert found.moved
    assert "3 different pictures in 4 captures" in found.how
    assert "20 x 10, 22 x 10 px" in found.how
    assert "Up to 6 pixels move, all within 3 x 2 px at 2, 3." in found.how


async def test_no_more_pictures_are_kept_than_a_person_looks_at(tmp_path: Path) -> None:
    found = await tallied(OutFolder(tmp_path), [captured(bytes([one])) for one in range(9)])
    assert len(found.frames) == 9
    assert sum(frame.file is not None for frame in found.frames) == KEPT_FRAMES
    assert pictures_in(tmp_path) == KEPT_FRAMES


async def test_a_story_that_fails_now_and_then_moves_and_shows_itself(tmp_path: Path) -> None:
    slow = (StoryWarning(WarningCode.FONT_TIMEOUT, "a font"),)
    shots = [captured(b"err", errored=True, warnings=slow), captured(), captured(b"b")]
    found = await tallied(OutFolder(tmp_path), shots)
    assert (found.state, found.moved) == (State.ERRORED, True)
    assert "errored in 1 of 3" in found.how
    assert "1 of 3 captures warned of font timeout" in found.how
    assert found.error == Fault("play_failed", "expected 3", "at x")
    assert (tmp_path / "a.png").read_bytes() == b"one"


async def test_failed_requests_are_told_apart_from_warnings(tmp_path: Path) -> None:
    told = (
        StoryWarning(WarningCode.BLOCKED_REQUEST, "https://x"),
        StoryWarning(WarningCode.DIALOG, "alert"),
    )
    found = await tallied(OutFolder(tmp_path), [captured(warnings=told)])
    assert found.failed_requests == (Told("blocked_request", "https://x"),)
    assert found.warnings == (Told("dialog", "alert"),)
    assert found.state is State.WARNINGS


def test_a_story_on_which_the_browser_dies_is_errored() -> None:
    tally = Tally(a_plan("a")[0])
    tally.crash("out of memory")
    assert tally.result().error == Fault("page_crashed", "out of memory")


def test_whatever_a_story_says_is_escaped() -> None:
    evil = "</pre></script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    told = (Told("dialog", evil),)
    page = page_of(
        a_report(
            result(
                title=evil, name=evil, id=evil, mode=evil, how=evil, picture=f"{evil}.png",
                error=Fault(evil, evil, evil), warnings=told, failed_requests=told,
                console=(Line(evil, evil),),
            )
        )
    ).decode()  # fmt: skip
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("<script>") == 1


def test_half_a_character_is_no_reason_to_have_no_report() -> None:
    assert b"\\ud800" in page_of(a_report(result(title="\ud800")))


def test_what_needs_a_look_comes_first() -> None:
    stories = [result(id="fine", state=State.OK), result(id="bad", state=State.ERRORED)]
    page = page_of(a_report(*stories)).decode()
    assert page.index(">bad<") < page.index(">fine<")


def test_the_document_counts_what_it_holds() -> None:
    stories = (result(state=State.OK, moved=True), result(state=State.ERRORED))
    report = a_report(*stories)
    counts = json.loads(report.to_json())["counts"]
    assert (counts["ok"], counts["errored"], counts["moved"]) == (1, 1, 1)
    assert not report.is_clean
    assert a_report(result(state=State.WARNINGS)).is_clean


def test_a_log_gets_errors_at_once_and_other_lines_seldom() -> None:
    stream, now = io.StringIO(), [0.0]
    progress = Progress(stream, lambda: now[0])
    progress.total = 4
    progress.captured(result(state=State.OK))
    progress.captured(result(state=State.OK))
    progress.captured(result(state=State.ERRORED, error=Fault("x", "went\x1b[2J\nwrong")))
    lines = stream.getvalue().splitlines()
    assert lines == ["1/4  ok  button--primary", "3/4  ERRORED  button--primary  x: went\\x1b[2J"]


def test_a_window_needs_a_full_browser_and_a_screen(tmp_path: Path) -> None:
    nothing = BrowserSearch(tmp_path, {}, which=lambda name: None)
    full = BrowserSearch(tmp_path, {}, which={"chromium": "/bin/true"}.get)
    with pytest.raises(NoWindowError, match="full Chromium"):
        find_headed(None, nothing, {"DISPLAY": ":0"})
    with pytest.raises(NoWindowError, match="screen"):
        find_headed(None, full, {})
    assert find_headed(None, full, {"DISPLAY": ":0"}).path == Path("/bin/true")


def test_a_browser_with_a_window_is_started_without_the_switch_that_hides_it(
    tmp_path: Path,
) -> None:
    real = tmp_path / "chro mium"
    real.write_text('#!/bin/sh\necho "$DISPLAY" "$@"\n')
    real.chmod(0o755)
    browser = Browser(real, BrowserKind.CHROMIUM, BrowserSource.SYSTEM)
    script = with_window(browser, tmp_path, {"DISPLAY": ":7"}).path

    def said(*switches: str) -> str:
        ran = subprocess.run([script, *switches], env={"PATH": "/usr/bin:/bin"},
                             capture_output=True, text=True, check=True)  # fmt: skip
        return ran.stdout.strip()

    assert said("--a=b c", "--headless", "--headless=old", "--z") == ":7 --a=b c --z"
    assert said("--headless", "--dump-dom", "x") == "--headless --dump-dom x"
