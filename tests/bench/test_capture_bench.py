import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.capture import Found, report, turned
from bench.capture_books import BESIDES, Book, NoStorybookError, books, cut, spread
from bench.capture_builds import Twice
from bench.capture_meter import Meter
from bench.capture_ours import MODES, UNMEASURED, components
from bench.capture_ratios import RATIOS, Parts, middle, parts_of, ratios_of
from bench.capture_raw import RawRate
from bench.capture_sides import SideRun
from bench.report import Length
from consumer.messages import Page
from tests.tiny_storybook import many_stories, write_tiny_storybook

A_BOOK = Book("ours", Path("/nowhere"), ["a--one", "a--two"])


def a_run(wall_s: float = 2, cpu_s: float = 1, peak_mb: int = 100) -> SideRun:
    ms = {"child": 800.0, "render": 1_600.0, "shoot": 1_200.0}
    return SideRun(2, 2, wall_s, cpu_s, peak_mb << 20, ms)


def found(*walls_s: float) -> Found:
    """Rounds: ours took so long, half in a shared page; others 8 s and 16 s; raw makes 10 a s."""
    each = Found(A_BOOK)
    for number, wall_s in enumerate(walls_s):
        each.note_run("strict", number, a_run(wall_s))
        each.note_run("shared", number, a_run(wall_s / 2))
        each.note_run("storycap", number, a_run(8, cpu_s=3, peak_mb=400))
        each.note_run("test_runner", number, a_run(16))
        each.note_raw(number, RawRate(png_ms=100, fast_png_ms=60))
        each.note_builds(number, Twice(first_per_s=2, unchanged_per_s=3))
    return each


def test_every_ratio_is_as_its_key_says() -> None:
    assert ratios_of(found(2).rounds) == {
        "strict_wall_vs_storycap": 4,
        "strict_cpu_vs_storycap": 3,
        "shared_wall_vs_storycap": 8,
        "strict_wall_vs_test_runner": 8,
        "strict_of_raw": 0.1,
        "shared_of_raw": 0.2,
        "memory_vs_storycap": 0.25,
        "unchanged_vs_first": 1.5,
    }


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert ratios_of(found(1, 4, 2).rounds)["strict_wall_vs_storycap"] == 4


def test_the_modes_of_the_ratios_are_those_that_can_be_measured() -> None:
    assert set(MODES) == {each.ours for each in RATIOS} - {"unchanged"}


def test_no_way_to_render_is_forgotten() -> None:
    assert {*MODES.values(), *UNMEASURED} == set(Page)


def test_pictures_count_not_stories() -> None:
    run = SideRun(stories=10, pictures=8, wall_s=2, cpu_s=4, peak_bytes=3 << 20)
    assert run.readings() == {
        "stories_per_s": 4,
        "stories_per_cpu_s": 2,
        "cpu_s_per_story": 0.5,
        "wall_s": 2,
        "peak_mb": 3,
        "pictures": 8,
    }


def test_the_parts_of_a_story_add_up_to_its_share_of_the_slots() -> None:
    parts = parts_of(a_run().ms, stories=2, wall_s=2, slots=2, encode_ms=40)
    assert parts.slot_ms == 2_000
    assert sum(parts.per_story.values()) == parts.slot_ms
    assert (parts.per_story["shoot"], parts.per_story["encode"]) == (520, 80)
    assert parts.unexplained == 0.1


def test_the_encoding_takes_no_more_than_the_shot() -> None:
    parts = parts_of({"shoot": 100.0}, stories=1, wall_s=1, slots=1, encode_ms=70)
    assert (parts.per_story["shoot"], parts.per_story["encode"]) == (0, 100)


def test_a_step_that_the_product_gets_has_a_part_of_its_own() -> None:
    parts = parts_of({"switch": 300.0}, stories=1, wall_s=1, slots=1, encode_ms=0)
    assert parts.per_story["switch"] == 300


def test_a_shot_that_is_as_quick_compressed_has_no_encoding() -> None:
    assert RawRate(png_ms=30, fast_png_ms=31).encode_ms == 0


def test_the_middle_is_the_median_and_the_lower_of_two() -> None:
    assert middle([3.0, 1.0, 2.0]) == 2
    assert middle([4.0, 1.0, 3.0, 2.0]) == 3


def test_the_order_turns_from_round_to_round() -> None:
    calls: list[str] = []
    measures = [lambda _, name=name: calls.append(name) for name in "abc"]
    for measure in turned(measures, 4):
        measure(0)
    assert "".join(calls) == "bca"


def test_the_last_line_has_the_ratios_of_our_own_storybook_and_figures_of_all() -> None:
    other = found(4)
    other.book = Book("large", Path("/nowhere"), ["b--one", "b--two"])
    said = json.loads(report([found(2), other], {"cores": 2}).last_line())
    assert said["bench"] == "capture"
    assert said["ratios"]["strict_wall_vs_storycap"] == 4
    assert said["figures"]["large"]["ratios"]["strict_wall_vs_storycap"] == 2
    assert said["figures"]["ours"]["sides"]["storycap"]["stories_per_s"] == 0.25
    assert said["figures"]["machine"] == {"cores": 2}


def test_stories_are_dealt_by_component_the_largest_first() -> None:
    assert list(components(["a--1", "b--1", "b--2", "a--2", "b--3"])) == [
        ["b--1", "b--2", "b--3"],
        ["a--1", "a--2"],
    ]


def test_a_cut_is_spread_over_all_stories() -> None:
    assert spread("abcdefgh", 4) == ["a", "c", "e", "g"]
    assert spread("abc", 4) == ["a", "b", "c"]


def test_a_cut_storybook_lists_its_stories_and_has_all_files(tmp_path: Path) -> None:
    stories = many_stories(6)
    source = write_tiny_storybook(tmp_path / "source", stories)
    book = cut("large", source, tmp_path / "cut", most=3)
    entries = json.loads((book.folder / "index.json").read_text())["entries"]
    assert list(entries) == list(book.stories) == list(stories)[::2]
    assert {path.name for path in book.folder.iterdir()} == {path.name for path in source.iterdir()}


def test_a_named_folder_without_a_storybook_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BESIDES, str(tmp_path))
    with pytest.raises(NoStorybookError, match=BESIDES), books(Length.QUICK):
        raise AssertionError("nothing is measured")


BUSY = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
WITH_CHILD = f"import subprocess, sys; input(); subprocess.run([sys.executable, '-c', {BUSY!r}])"


def test_what_a_child_of_a_process_took_counts_and_what_was_before_does_not() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", f"{BUSY}\nprint(1, flush=True)\n{WITH_CHILD}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    meter = Meter(process.pid)
    process.stdin.write("\n")
    process.stdin.close()
    took = meter.stop(process)
    process.stdout.close()
    assert 0.2 <= took.cpu_s < 0.4
    assert took.peak_bytes > 1 << 20


def test_a_part_that_no_step_explains_is_told() -> None:
    assert Parts({"shoot": 50}, encode=0, rest=-50, slot_ms=100).unexplained == 0.5
