"""From two files to a verdict: every outcome, its counts, its places and its sentence."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from storyshelf.diff.faint import FaintRule
from storyshelf.diff.options import BadOptionsError
from storyshelf.diff.shapes import Pixels
from storyshelf.diff.verdict import (
    Box,
    Comparison,
    Options,
    Outcome,
    Size,
    compare_pixels,
    compare_pngs,
)
from tests.diff.pictures import BLACK, a_picture, outline, paint, png, png_by_hand, saved
from tests.diff.test_mask import read_back

RED = (220, 30, 30)
PAGE = a_picture(100, 80)
CARD = outline(PAGE, (10, 10, 60, 40), (200, 200, 200))
RGBA_PICTURES = arrays(np.uint8, st.tuples(st.integers(1, 8), st.integers(1, 8), st.just(4)))


def test_equal_files_are_identical_and_not_decoded() -> None:
    file = png_by_hand((30, 20, 8, 2, 0), b"no row of a picture")
    found = compare_pngs(file, file)
    assert (found.outcome, found.raw_px, found.mask) == (Outcome.IDENTICAL, 0, None)
    assert found.base_size == found.head_size == Size(30, 20)
    assert found.reason == "The files are equal byte for byte."


@pytest.mark.parametrize("file", [b"", b"GIF89a" + bytes(60)])
def test_equal_files_that_are_no_pictures_are_not_identical(file: bytes) -> None:
    assert compare_pngs(file, file).outcome == Outcome.UNDECODABLE


def test_files_with_equal_pixels_are_identical() -> None:
    stored = (png(CARD, compress_level=0), png(CARD), saved(Image.fromarray(CARD).convert("RGB")))
    for file in stored[1:]:
        found = compare_pngs(stored[0], file)
        assert (found.outcome, found.reason) == (Outcome.IDENTICAL, "Every pixel is equal.")


def test_one_pixel_is_a_change_and_its_place_is_told() -> None:
    found = compare_pngs(png(CARD), png(paint(CARD, (33, 22, 1, 1), RED)))
    assert found.outcome == Outcome.CHANGED
    assert (found.raw_px, found.changed_px, found.antialiased_px, found.faint_px) == (1, 1, 0, 0)
    assert found.regions == (Box(33, 22, 1, 1),)
    assert found.mask is not None
    assert found.mask.box == Box(33, 22, 1, 1)
    assert found.reason == "1 pixel changed (0.01% of the picture)."


def test_a_recoloured_border_of_one_pixel_is_a_change() -> None:
    found = compare_pixels(CARD, outline(PAGE, (10, 10, 60, 40), RED))
    assert (found.outcome, found.changed_px) == (Outcome.CHANGED, 2 * 60 + 2 * 38)


def test_a_small_icon_on_a_long_page_is_a_change() -> None:
    page = a_picture(400, 5000)
    assert compare_pixels(page, paint(page, (9, 4000, 12, 12), RED)).outcome == Outcome.CHANGED


def test_an_edge_is_forgiven_unless_edges_count() -> None:
    base = paint(paint(PAGE, (50, 0, 50, 80), BLACK), (49, 0, 1, 80), (200, 200, 200))
    head = paint(base, (49, 0, 1, 80), (80, 80, 80))
    forgiven = compare_pixels(base, head)
    assert (forgiven.outcome, forgiven.raw_px) == (Outcome.WITHIN_TOLERANCE, 80)
    assert (forgiven.changed_px, forgiven.antialiased_px, forgiven.mask) == (0, 80, None)
    counted = compare_pixels(base, head, Options(include_aa=True))
    assert (counted.outcome, counted.changed_px) == (Outcome.CHANGED, 80)


def test_a_pass_keeps_the_count_of_pixels_that_differ() -> None:
    found = compare_pixels(PAGE, a_picture(100, 80, (253, 253, 253)))
    assert (found.outcome, found.raw_px, found.mask) == (Outcome.WITHIN_TOLERANCE, 8000, None)
    assert found.reason == "8,000 pixels differ, none by enough to count."


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (Options(max_diff_pixels=12), 12),
        (Options(max_diff_ratio=0.0015), 12),
        (Options(max_diff_pixels=12, max_diff_ratio=0.5), 12),
        (Options(max_diff_pixels=500, max_diff_ratio=0.0015), 12),
        (Options(max_diff_pixels=0, max_diff_ratio=0.5), 0),
        (Options(), 0),
    ],
)
def test_as_many_pixels_as_allowed_may_change_and_no_more(options: Options, allowed: int) -> None:
    within = compare_pixels(PAGE, paint(PAGE, (3, 3, allowed, 1), RED), options)
    beyond = compare_pixels(PAGE, paint(PAGE, (3, 3, allowed + 1, 1), RED), options)
    assert within.outcome == (Outcome.WITHIN_TOLERANCE if allowed else Outcome.IDENTICAL)
    assert (within.changed_px, beyond.outcome) == (allowed, Outcome.CHANGED)


def test_a_ratio_allows_what_it_says_in_decimals() -> None:
    assert Options(max_diff_ratio=0.29).allowed_px(Size(10, 10)) == 29


def test_a_pass_by_tolerance_says_so_and_still_shows_where() -> None:
    head = paint(PAGE, (3, 3, 7, 1), RED)
    found = compare_pixels(PAGE, head, Options(max_diff_pixels=9))
    assert found.reason == "7 pixels differ, 7 of them by enough to count, where 9 may."
    assert found.regions == (Box(3, 3, 7, 1),)


def test_places_with_too_few_pixels_are_dropped() -> None:
    head = paint(paint(PAGE, (3, 3, 2, 2), RED), (70, 60, 5, 1), RED)
    found = compare_pixels(PAGE, head, Options(min_region_px=5))
    assert (found.raw_px, found.changed_px, found.regions) == (9, 5, (Box(70, 60, 5, 1),))


def test_a_lower_threshold_finds_more() -> None:
    head = paint(PAGE, (3, 3, 2, 2), (235, 235, 235))
    assert compare_pixels(PAGE, head).outcome == Outcome.WITHIN_TOLERANCE
    assert compare_pixels(PAGE, head, Options(threshold=0.063)).outcome == Outcome.CHANGED


def test_what_only_one_picture_has_is_different() -> None:
    found = compare_pixels(PAGE, np.pad(PAGE, ((0, 5), (0, 0), (0, 0))))
    assert found.outcome == Outcome.SIZE_CHANGED
    assert (found.base_size, found.head_size) == (Size(100, 80), Size(100, 85))
    assert (found.raw_px, found.changed_px, found.regions) == (500, 500, (Box(0, 80, 100, 5),))
    sizes = "The size changed: 100 x 80 became 100 x 85"
    assert found.reason == f"{sizes}; what both show is the same."


def test_pictures_of_two_sizes_are_laid_on_each_other_at_the_top_left() -> None:
    head = paint(a_picture(90, 85), (4, 4, 3, 3), RED)
    found = compare_pixels(PAGE, head)
    assert found.changed_px == 9 + 10 * 80 + 5 * 90  # the corner that neither has is not different
    assert found.reason.endswith("; of what both show, 9 pixels changed.")
    assert Box(4, 4, 3, 3) in found.regions


def test_no_tolerance_turns_a_change_of_size_into_a_pass() -> None:
    lenient = Options(threshold=1, max_diff_pixels=10**9, max_diff_ratio=1, faint=None)
    assert compare_pixels(PAGE, PAGE[:79], lenient).outcome == Outcome.SIZE_CHANGED
    assert compare_pixels(PAGE, PAGE[:, :99], lenient).outcome == Outcome.SIZE_CHANGED


def test_white_that_became_transparent_is_a_change() -> None:
    head = paint(PAGE, (20, 20, 10, 10), (255, 255, 255, 0))
    found = compare_pngs(png(PAGE), png(head))
    assert (found.outcome, found.changed_px) == (Outcome.CHANGED, 100)


def test_the_hidden_colour_of_a_transparent_pixel_is_no_difference() -> None:
    one, other = (paint(PAGE, (0, 0, 9, 9), (*colour, 0)) for colour in (RED, BLACK))
    assert compare_pngs(png(one), png(other)).outcome == Outcome.IDENTICAL


@pytest.mark.parametrize(
    ("base", "head", "reason"),
    [
        (b"", png(PAGE), "The baseline cannot be read: the file is empty."),
        (png(PAGE), b"GIF89a", "The new picture cannot be read: it is not a PNG."),
        (png(PAGE), png(PAGE)[:33], "The new picture cannot be read: it ends after 33 bytes,"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(base: bytes, head: bytes, reason: str) -> None:
    found = compare_pngs(base, head)
    assert (found.outcome, found.base_size, found.mask) == (Outcome.UNDECODABLE, None, None)
    assert found.reason.startswith(reason)


def test_memory_stays_within_eight_bytes_a_pixel_where_all_of_them_differ() -> None:
    base, head = a_picture(2000, 1500), a_picture(2000, 1500, RED)
    head[::2] = (0, 0, 255, 255)
    tracemalloc.start()
    found = compare_pixels(base, head)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.changed_px == 3_000_000
    assert peak_bytes < 8 * found.changed_px


def test_a_verdict_names_its_metric_and_engine() -> None:
    found = compare_pixels(PAGE, CARD)
    assert (found.metric, found.engine) == ("yiq-7", "numpy")
    assert found.engine_version


@given(RGBA_PICTURES)
def test_a_picture_is_identical_to_itself(pixels: Pixels) -> None:
    found = compare_pngs(png(pixels), png(pixels, compress_level=0))
    assert (found.outcome, found.raw_px, found.regions) == (Outcome.IDENTICAL, 0, ())


@given(RGBA_PICTURES, RGBA_PICTURES)
def test_counts_and_places_do_not_depend_on_the_order(one: Pixels, other: Pixels) -> None:
    assert _measured(compare_pixels(one, other)) == _measured(compare_pixels(other, one))


@given(RGBA_PICTURES, RGBA_PICTURES)
def test_the_mask_has_exactly_the_counted_pixels(one: Pixels, other: Pixels) -> None:
    found = compare_pixels(one, other)
    height, width = (max(sides) for sides in zip(one.shape[:2], other.shape[:2], strict=True))
    mask = read_back(found.mask, np.zeros((height, width), np.bool_))
    assert np.count_nonzero(mask) == found.changed_px + found.faint_px
    both = np.zeros((2, height, width, 4), np.int16) - 1
    for side, pixels in zip(both, (one, other), strict=True):
        side[: pixels.shape[0], : pixels.shape[1]] = pixels
    assert not (mask & (both[0] == both[1]).all(axis=-1)).any()


@pytest.mark.parametrize(
    ("option", "make"),
    [
        ("threshold is -0.1", lambda: Options(threshold=-0.1)),
        ("threshold is 1.1", lambda: Options(threshold=1.1)),
        ("threshold is nan", lambda: Options(threshold=float("nan"))),
        ("max_diff_ratio is 1.5", lambda: Options(max_diff_ratio=1.5)),
        ("max_diff_ratio is nan", lambda: Options(max_diff_ratio=float("nan"))),
        ("max_diff_pixels is -1", lambda: Options(max_diff_pixels=-1)),
        ("min_region_px is 0", lambda: Options(min_region_px=0)),
        ("share_of_threshold is 2", lambda: Options(faint=FaintRule(share_of_threshold=2))),
        ("area_ratio is -1", lambda: Options(faint=FaintRule(area_ratio=-1))),
        ("line_px is 0", lambda: Options(faint=FaintRule(line_px=0))),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(
    option: str, make: Callable[[], Options]
) -> None:
    with pytest.raises(BadOptionsError, match=option):
        make()


def _measured(found: Comparison) -> tuple[object, ...]:
    counts = (found.raw_px, found.changed_px, found.faint_px, found.antialiased_px)
    return (found.outcome, *counts, found.regions, found.mask)
