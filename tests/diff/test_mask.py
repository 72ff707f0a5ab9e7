"""The stored mask is the counted pixels, no more and no less, in a file of one bit a pixel."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storyshelf.diff.mask import COLOUR, Mask, draw_mask
from storyshelf.diff.png import decode, read_header
from storyshelf.diff.shapes import Box, PixelMask


def read_back(drawn: Mask | None, like: PixelMask) -> PixelMask:
    """Lay a mask on an empty one, as a page does."""
    mask = np.zeros_like(like)
    if drawn is not None:
        alpha = decode(drawn.png)[..., 3]
        mask[drawn.y_px :, drawn.x_px :][: alpha.shape[0], : alpha.shape[1]] = alpha > 0
    return mask


def test_nothing_set_draws_nothing() -> None:
    assert draw_mask(np.zeros((5, 5), np.bool_)) is None


@given(arrays(np.bool_, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_the_drawn_mask_has_exactly_the_pixels_that_are_set(mask: PixelMask) -> None:
    assert np.array_equal(read_back(draw_mask(mask), mask), mask)


def test_the_file_is_cut_to_what_is_set_and_knows_its_place() -> None:
    mask = np.zeros((100, 200), np.bool_)
    mask[40:43, 150:160] = True
    drawn = draw_mask(mask)
    assert drawn is not None
    assert drawn.box == Box(150, 40, 10, 3)


def test_the_file_has_one_bit_a_pixel_and_two_colours() -> None:
    drawn = draw_mask(np.array([[True, False, True]]))
    assert drawn is not None
    assert read_header(drawn.png).bit_depth == 1
    assert decode(drawn.png).tolist() == [[[*COLOUR, 255], [0, 0, 0, 0], [*COLOUR, 255]]]


def test_a_whole_page_of_changes_is_a_small_file() -> None:
    drawn = draw_mask(np.ones((720, 1280), np.bool_))
    assert drawn is not None
    assert len(drawn.png) < 1000
