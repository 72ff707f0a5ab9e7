"""Under the threshold for each pixel, and yet seen: wide areas and lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storyshelf.diff.faint import FaintRule, _runs
from storyshelf.diff.shapes import PixelMask, Pixels
from storyshelf.diff.verdict import Comparison, Options, Outcome, compare_pixels
from tests.diff.pictures import BLACK, Colour, a_picture, outline, paint

PALE = (229, 231, 235)  # a light border on white: 24 greys of luma, where the threshold asks for 26


def test_a_light_card_border_that_moved_by_three_pixels_is_a_change() -> None:
    page = a_picture(200, 120)
    base, head = outline(page, (20, 20, 160, 80), PALE), outline(page, (20, 23, 160, 80), PALE)
    found = compare_pixels(base, head)
    assert found.outcome == Outcome.CHANGED
    assert found.changed_px == 0
    # four lines across, the inner two without the corners that the other card's sides cover;
    # of the sides only stubs differ, too short to count
    assert found.faint_px == 2 * 160 + 2 * 158
    assert "pixels changed faintly" in found.reason


def test_a_recoloured_light_border_is_a_change() -> None:
    page = a_picture(200, 120)
    base, head = (
        outline(page, (20, 20, 160, 80), PALE),
        outline(page, (20, 20, 160, 80), (210,) * 3),
    )
    assert compare_pixels(base, head).outcome == Outcome.CHANGED


@pytest.mark.parametrize(
    ("length_px", "outcome"), [(15, Outcome.WITHIN_TOLERANCE), (16, Outcome.CHANGED)]
)
def test_a_faint_line_counts_from_sixteen_pixels_on(length_px: int, outcome: Outcome) -> None:
    page = a_picture(100, 100)
    across, down = (30, 50, length_px, 1), (50, 30, 1, length_px)
    assert compare_pixels(page, paint(page, across, PALE)).outcome == outcome
    assert compare_pixels(page, paint(page, down, PALE)).outcome == outcome


@pytest.mark.parametrize(
    ("count", "outcome"), [(299, Outcome.WITHIN_TOLERANCE), (300, Outcome.CHANGED)]
)
def test_faint_dots_count_from_three_in_a_hundred_on(count: int, outcome: Outcome) -> None:
    base = a_picture(100, 100)
    head = base.copy()
    head.reshape(-1, 4)[np.arange(count) * 31 + 7] = (*PALE, 255)
    found = compare_pixels(base, head)
    assert found.outcome == outcome
    assert (found.raw_px, found.faint_px) == (count, count if outcome == Outcome.CHANGED else 0)


def test_what_is_fainter_than_faint_never_counts() -> None:
    found = compare_pixels(a_picture(colour=(255, 255, 255)), a_picture(colour=(250, 250, 250)))
    assert found.outcome == Outcome.WITHIN_TOLERANCE
    assert (found.raw_px, found.faint_px) == (400, 0)


def test_a_long_edge_that_moved_within_a_pixel_is_no_line() -> None:
    found = compare_pixels(_half_dark((128, 128, 128)), _half_dark((140, 140, 140)))
    assert (found.outcome, found.raw_px) == (Outcome.WITHIN_TOLERANCE, 60)


def test_a_higher_threshold_moves_the_faint_one_along() -> None:
    page = a_picture(100, 100)
    head = paint(page, (10, 10, 80, 1), (240, 240, 240))
    assert compare_pixels(page, head).outcome == Outcome.CHANGED
    assert compare_pixels(page, head, Options(threshold=0.3)).outcome == Outcome.WITHIN_TOLERANCE


def test_without_the_rule_only_the_threshold_counts() -> None:
    page = a_picture(100, 100)
    found = compare_pixels(page, a_picture(100, 100, PALE), Options(faint=None))
    assert (found.outcome, found.faint_px) == (Outcome.WITHIN_TOLERANCE, 0)


def test_faint_pixels_use_up_the_allowed_ones() -> None:
    page = a_picture(100, 100)
    head = paint(page, (10, 10, 40, 1), PALE)
    assert _with_allowed(page, head, 39).outcome == Outcome.CHANGED
    assert _with_allowed(page, head, 40).outcome == Outcome.WITHIN_TOLERANCE


@given(arrays(np.bool_, st.tuples(st.integers(1, 4), st.integers(1, 40))), st.integers(1, 20))
def test_runs_are_those_found_by_walking_the_row(mask: PixelMask, length_px: int) -> None:
    walked = np.zeros_like(mask)
    for row, start in np.ndindex(mask.shape):
        stretch = mask[row, start : start + length_px]
        if stretch.size == length_px and stretch.all():
            walked[row, start : start + length_px] = True
    assert np.array_equal(_runs(mask, length_px), walked)


def test_the_rule_scales_with_the_threshold_of_pixelmatch() -> None:
    assert Options().threshold * FaintRule().share_of_threshold == pytest.approx(0.0225)


def _half_dark(between: Colour) -> Pixels:
    """White above, black below, and one row of another grey where they meet."""
    page = paint(a_picture(60, 60), (0, 30, 60, 30), BLACK)
    return paint(page, (0, 30, 60, 1), between)


def _with_allowed(base: Pixels, head: Pixels, allowed_px: int) -> Comparison:
    return compare_pixels(base, head, Options(max_diff_pixels=allowed_px))
