"""Boxes around what changed: few, tight, and never losing a pixel."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storyshelf.diff.regions import (
    MAX_REGIONS,
    TILE_PX,
    Regions,
    find_regions,
    without_small_regions,
)
from storyshelf.diff.shapes import Box, PixelMask, cut

SIDES = st.tuples(st.integers(1, 70), st.integers(1, 70))
MASKS = arrays(np.bool_, SIDES, fill=st.just(np.False_))


def a_mask(width: int, height: int, *boxes: tuple[int, int, int, int]) -> PixelMask:
    mask = np.zeros((height, width), np.bool_)
    for x, y, box_width, box_height in boxes:
        mask[y : y + box_height, x : x + box_width] = True
    return mask


def test_an_empty_mask_has_no_region() -> None:
    assert find_regions(a_mask(30, 30)) == Regions(())


def test_a_box_is_as_tight_as_its_pixels() -> None:
    assert find_regions(a_mask(100, 50, (13, 9, 30, 22))).boxes == (Box(13, 9, 30, 22),)


def test_places_apart_are_regions_apart_in_reading_order() -> None:
    mask = a_mask(100, 100, (60, 5, 3, 3), (2, 40, 1, 1), (97, 97, 3, 3))
    boxes = (Box(60, 5, 3, 3), Box(2, 40, 1, 1), Box(97, 97, 3, 3))
    assert find_regions(mask).boxes == boxes


def test_pixels_in_neighbouring_tiles_are_one_region() -> None:
    assert find_regions(a_mask(40, 40, (0, 0, 1, 1), (15, 15, 1, 1))).boxes == (Box(0, 0, 16, 16),)


def test_arms_that_meet_further_down_are_one_region() -> None:
    mask = a_mask(80, 80, (0, 0, 4, 70), (60, 0, 4, 70), (30, 0, 4, 40), (0, 66, 64, 4))
    assert find_regions(mask).boxes == (Box(0, 0, 64, 70), Box(30, 0, 4, 40))


def test_too_many_regions_are_joined_with_their_neighbours() -> None:
    mask = np.zeros((400, 400), np.bool_)
    mask[::20, ::20] = True
    regions = find_regions(mask)
    assert regions.tile_px > TILE_PX
    assert 0 < len(regions.boxes) <= MAX_REGIONS


def test_regions_of_enough_pixels_are_kept() -> None:
    mask = a_mask(100, 60, (3, 3, 2, 2), (50, 50, 5, 1))
    assert np.array_equal(without_small_regions(mask, 4), mask)
    assert np.array_equal(without_small_regions(mask, 5), a_mask(100, 60, (50, 50, 5, 1)))
    assert not without_small_regions(mask, 6).any()


@given(MASKS)
def test_every_pixel_is_in_a_box_and_every_box_touches_pixels_on_all_sides(mask: PixelMask) -> None:
    covered = np.zeros_like(mask)
    for box in find_regions(mask).boxes:
        part = cut(mask, box)
        assert all(side.any() for side in (part[0], part[-1], part[:, 0], part[:, -1]))
        cut(covered, box)[...] = True
    assert not (mask & ~covered).any()


@given(MASKS)
def test_regions_do_not_depend_on_the_direction_of_reading(mask: PixelMask) -> None:
    width = mask.shape[1]
    if width % TILE_PX:  # only then do the tiles of the mirrored mask cut it elsewhere
        mask = mask[:, : max(TILE_PX, width - width % TILE_PX)]
        mask = np.pad(mask, ((0, 0), (0, -mask.shape[1] % TILE_PX)))
    width = mask.shape[1]
    mirrored = {
        Box(width - box.x - box.width, box.y, box.width, box.height)
        for box in find_regions(mask[:, ::-1]).boxes
    }
    assert mirrored == set(find_regions(mask).boxes)
