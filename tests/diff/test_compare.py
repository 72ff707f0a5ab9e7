"""The metric and the edge rule, against a plain second writing of both and recorded counts."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storyshelf.diff.antialias import forgive_edges
from storyshelf.diff.compare import WINDOW_PX, Kind, Kinds, classify, picture_of
from storyshelf.diff.shapes import Pixels, size_of
from tests.diff.pictures import Colour, a_picture, discs, paint
from tests.diff.reference import count_over, distance

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9))


def kinds_of(base: Pixels, head: Pixels, threshold: float = 0.1, faint: float = 0.0225) -> Kinds:
    ours, theirs = picture_of(base, size_of(base)), picture_of(head, size_of(head))
    kinds = classify(ours, theirs, threshold, faint)
    forgive_edges(kinds, ours, theirs, Kind.OVER, Kind.ANTIALIASED)
    return kinds


def counts_of(base: Pixels, head: Pixels, threshold: float = 0.1) -> tuple[int, int]:
    kinds = kinds_of(base, head, threshold, threshold)
    return int((kinds == Kind.OVER).sum()), int((kinds == Kind.ANTIALIASED).sum())


def opaque(rgb: Pixels) -> Pixels:
    pixels = a_picture(rgb.shape[1], rgb.shape[0])
    pixels[..., :3] = rgb
    return pixels


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Pixels, Pixels]:
    """Two opaque pictures of one size with few colours, so that flat areas and ties are common."""
    height, width = draw(SHAPES)
    levels = st.sampled_from([0, 40, 90, 128, 200, 255])
    drawn = arrays(np.uint8, (height, width, 3), elements=levels)
    return opaque(draw(drawn)), opaque(draw(drawn))


@given(pairs(), st.sampled_from([0, 0.05, 0.1, 0.3]))
def test_counts_are_those_of_the_rule_written_plainly(
    pair: tuple[Pixels, Pixels], threshold: float
) -> None:
    assert counts_of(*pair, threshold) == count_over(*pair, threshold)


@given(pairs())
def test_the_order_of_the_pictures_does_not_matter(pair: tuple[Pixels, Pixels]) -> None:
    base, head = pair
    assert np.array_equal(kinds_of(base, head), kinds_of(head, base))


@given(arrays(np.uint8, st.tuples(*[st.integers(1, 9)] * 2, st.just(4))))
def test_a_picture_has_no_difference_from_itself(pixels: Pixels) -> None:
    assert not kinds_of(pixels, pixels.copy(), 0, 0).any()


@pytest.mark.parametrize(
    ("size", "moved_px", "threshold", "changed", "with_edges"),
    [
        # counted by pixelmatch 7.2.0 from npm on these very pictures
        ((96, 64), 0.25, 0.1, 3, 192),
        ((96, 64), 0.5, 0.1, 20, 270),
        ((96, 64), 0.5, 0.05, 26, 336),
        ((96, 64), 1, 0.1, 80, 398),
        ((96, 64), 3, 0.1, 349, 705),
        ((120, 40), 0.125, 0.02, 1, 246),
        ((40, 120), 0.75, 0.2, 36, 260),
    ],
)
def test_counts_are_those_that_pixelmatch_gave(
    size: tuple[int, int], moved_px: float, threshold: float, changed: int, with_edges: int
) -> None:
    counts = counts_of(discs(*size), discs(*size, moved_px), threshold)
    assert counts == (changed, with_edges - changed)


def test_one_changed_pixel_is_found_wherever_it_is() -> None:
    base = a_picture(300, 300)
    for place in (0, 299, WINDOW_PX - 1, WINDOW_PX, 300 * 300 - 1):
        head = paint(base, (place % 300, place // 300, 1, 1), (200, 0, 0))
        assert np.flatnonzero(kinds_of(base, head) == Kind.OVER).tolist() == [place]


COLOURS = st.tuples(*[st.integers(0, 255)] * 3)


@given(COLOURS, COLOURS)
def test_two_colours_are_as_far_apart_as_the_formula_says(one: Colour, other: Colour) -> None:
    assume(one != other)
    base, head = a_picture(1, 1, one), a_picture(1, 1, other)
    touching = (distance((*one, 255), (*other, 255)) / 35215) ** 0.5
    assert kinds_of(base, head, touching * (1 - 1e-12), 0).tolist() == [Kind.OVER]
    assert kinds_of(base, head, touching * (1 + 1e-12), 0).tolist() == [Kind.FAINT]


def test_what_looks_the_same_is_not_over_even_a_threshold_of_zero() -> None:
    empty = a_picture(1, 1)
    ours, theirs = (paint(empty, (0, 0, 1, 1), (*c, 0)) for c in ((9, 9, 9), (200, 0, 0)))
    assert kinds_of(ours, theirs, 0, 0).tolist() == [Kind.BELOW]


@pytest.mark.parametrize(
    ("grey", "kind"),
    # in greys only luma differs: the limit of 0.1 is 26.4 levels away, that of 0.0225 is 5.9
    [(255, Kind.SAME), (250, Kind.BELOW), (249, Kind.FAINT), (229, Kind.FAINT), (228, Kind.OVER)],
)
def test_kinds_begin_just_beyond_their_threshold(grey: int, kind: Kind) -> None:
    base, head = a_picture(1, 1), a_picture(1, 1, (grey, grey, grey))
    assert kinds_of(base, head).tolist() == [kind]


def test_no_two_opaque_colours_are_equally_bright() -> None:
    # the edge rule takes equal brightness for equal colour
    steps = np.arange(-255, 256, dtype=np.int64)
    red_and_green = 29_889_531 * steps[:, None] + 58_662_247 * steps[None, :]
    blue, rest = np.divmod(-red_and_green, 11_448_223)
    alike = np.argwhere((rest == 0) & (np.abs(blue) <= 255))
    assert alike.tolist() == [[255, 255]]  # no step in red and none in green


@pytest.mark.parametrize("down_px", [0, 1, 2])
def test_edges_are_the_same_wherever_a_band_of_rows_ends(down_px: int) -> None:
    width, height = 256, 2 * WINDOW_PX // 256 + 40
    shares = (0.5, 0.2)
    base, head = (np.roll(blurred_blocks(width, height, s), down_px, axis=0) for s in shares)
    whole = kinds_of(base, head).reshape(height, width)
    seam = slice(WINDOW_PX // width - 20, WINDOW_PX // width + 20)
    part = kinds_of(base[seam], head[seam]).reshape(40, width)
    # three rows at the cut ends know less of what is around them
    assert np.array_equal(whole[seam][3:-3], part[3:-3])
    assert np.count_nonzero(part == Kind.ANTIALIASED) > 1000


def blurred_blocks(width: int, height: int, share: float) -> Pixels:
    """Blocks of 3 x 3 in few greys, each smeared downwards and sideways over the next pixel."""
    greys = np.random.default_rng(7).choice([0, 120, 255], (height // 3 + 1, width // 3 + 1))
    blocks = greys.repeat(3, axis=0).repeat(3, axis=1)[:height, :width].astype(np.float64)
    for axis in (0, 1):
        blocks = blocks * (1 - share) + np.roll(blocks, 1, axis=axis) * share
    return opaque(np.floor(blocks).astype(np.uint8)[..., None].repeat(3, axis=2))


def test_an_edge_that_moved_within_a_pixel_is_forgiven() -> None:
    # white beside black with one grey column between; the grey changes as the edge moves
    base = paint(paint(a_picture(9, 9), (5, 0, 4, 9), (0, 0, 0)), (4, 0, 1, 9), (200, 200, 200))
    head = paint(base, (4, 0, 1, 9), (80, 80, 80))
    kinds = kinds_of(base, head).reshape(9, 9)
    # at the border of the picture each grey has one equal neighbour and the border: still an edge
    assert (kinds[:, 4] == Kind.ANTIALIASED).all()
    assert np.count_nonzero(kinds) == 9


def test_a_line_between_equal_sides_is_no_edge() -> None:
    base = paint(a_picture(9, 9), (4, 0, 1, 9), (200, 200, 200))
    head = paint(base, (4, 0, 1, 9), (80, 80, 80))
    assert counts_of(base, head) == (9, 0)


@pytest.mark.parametrize(
    ("base", "head", "kind"),
    [
        ((255, 255, 255, 255), (0, 0, 0, 0), Kind.OVER),  # white against nothing: alike on white
        ((255, 255, 255, 255), (255, 255, 255, 229), Kind.OVER),
        ((255, 255, 255, 255), (255, 255, 255, 230), Kind.FAINT),
        ((0, 0, 0, 0), (0, 0, 0, 5), Kind.BELOW),
        ((0, 0, 0, 40), (0, 0, 0, 65), Kind.FAINT),
        ((0, 0, 0, 40), (0, 0, 0, 67), Kind.OVER),
    ],
)
def test_alpha_counts_by_itself_and_by_what_shows_on_white(
    base: tuple[int, ...], head: tuple[int, ...], kind: Kind
) -> None:
    empty = a_picture(1, 1)
    ours, theirs = paint(empty, (0, 0, 1, 1), base), paint(empty, (0, 0, 1, 1), head)
    assert kinds_of(ours, theirs).tolist() == [kind]
