"""What lies in an ignored box is not compared; all around it is, to the pixel."""

import pytest

from storyshelf.diff.shapes import Box
from storyshelf.diff.verdict import Outcome, compare_pixels, compare_pngs
from tests.diff.pictures import a_picture, outline, paint, png

RED = (220, 30, 30)
PAGE = a_picture(100, 80)
CLOCK = Box(20, 10, 30, 12)
LATER = paint(PAGE, (20, 10, 30, 12), RED)


def test_a_difference_inside_of_a_box_is_none() -> None:
    found = compare_pngs(png(PAGE), png(LATER), ignored=[CLOCK])
    assert found.outcome is Outcome.WITHIN_TOLERANCE
    assert (found.raw_px, found.changed_px, found.faint_px) == (360, 0, 0)
    assert (found.regions, found.mask) == ((), None)
    assert found.reason == (
        "360 pixels differ, none by enough to count. 1 region is ignored; 360 pixels differ there."
    )


@pytest.mark.parametrize("place", [(19, 10), (50, 10), (20, 9), (20, 22)])
def test_the_pixel_beside_a_box_counts(place: tuple[int, int]) -> None:
    found = compare_pixels(PAGE, paint(LATER, (*place, 1, 1), RED), ignored=[CLOCK])
    assert found.outcome is Outcome.CHANGED
    assert found.regions == (Box(*place, 1, 1),)
    assert found.reason.startswith("1 pixel changed")


def test_a_faint_line_that_runs_through_a_box_is_no_longer_for_it() -> None:
    faint = outline(PAGE, (20, 10, 30, 12), (244, 244, 244))
    assert compare_pixels(PAGE, faint).faint_px > 0
    assert compare_pixels(PAGE, faint, ignored=[CLOCK]).faint_px == 0


def test_boxes_overlap_hang_out_and_lie_outside() -> None:
    boxes = [CLOCK, Box(25, 5, 90, 90), Box(500, 500, 20, 20), Box(0, 0, 0, 0)]
    found = compare_pixels(PAGE, paint(LATER, (99, 79, 1, 1), RED), ignored=boxes)
    assert (found.outcome, found.raw_px) == (Outcome.WITHIN_TOLERANCE, 361)
    assert found.reason.endswith("4 regions are ignored; 361 pixels differ there.")


def test_nothing_that_is_ignored_makes_another_size_pass() -> None:
    found = compare_pixels(PAGE, a_picture(100, 90), ignored=[Box(0, 0, 100, 90)])
    assert (found.outcome, found.changed_px) == (Outcome.SIZE_CHANGED, 1_000)


def test_equal_pictures_are_identical_and_say_that_boxes_were_left_out() -> None:
    found = compare_pixels(PAGE, PAGE, ignored=[CLOCK])
    assert found.outcome is Outcome.IDENTICAL
    assert found.reason == "Every pixel is equal. 1 region is ignored; 0 pixels differ there."
