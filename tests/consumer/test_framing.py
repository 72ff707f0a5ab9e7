import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.capture.framing import MAX_PIXELS, Frame, Measured, frame_of, ignored_in
from consumer.messages import MAX_IGNORED, MAX_SIDE_PX, Box

Edges = tuple[float, float, float, float] | None


def framed(edges: Edges, scale: float = 1.0) -> Frame:
    return frame_of(Measured(edges, viewport_width_px=1280, viewport_height_px=720), scale)


@pytest.mark.parametrize(
    ("edges", "frame"),
    [
        ((100, 100, 200, 150), Frame(84, 84, 132, 82)),
        ((16, 16, 116, 56), Frame(0, 0, 132, 72)),
        ((0, 0, 50, 20), Frame(0, 0, 66, 36)),
        ((0.4, 0.6, 49.2, 20.1), Frame(0, 0, 66, 37)),
        ((-30, -5, 50, 20), Frame(0, 0, 66, 36)),
    ],
    ids=["inside", "padded page", "at the corner", "fractions", "hanging out"],
)
def test_a_margin_is_left_around_the_content_where_there_is_page(
    edges: Edges, frame: Frame
) -> None:
    assert framed(edges) == frame


def test_content_that_fills_the_window_gets_no_margin_beyond_it() -> None:
    assert framed((0, 0, 1280, 720)) == Frame(0, 0, 1280, 720)


def test_content_that_nearly_fills_the_window_gets_what_margin_is_left() -> None:
    assert framed((0, 0, 1270, 710)) == Frame(0, 0, 1280, 720)


def test_below_the_window_there_is_page_for_a_margin() -> None:
    assert framed((0, 0, 1280, 2000)) == Frame(0, 0, 1280, 2016)


def test_beside_the_window_there_is_none() -> None:
    assert framed((0, 0, 1500, 100)) == Frame(0, 0, 1500, 116)


def test_a_page_without_content_is_shown_as_the_window() -> None:
    assert framed(None) == Frame(0, 0, 1280, 720)


def test_what_the_caps_leave_out_is_said() -> None:
    frame = framed((0, 0, 1000, 30_000))
    assert (frame.width, frame.height) == (1016, 16_384)
    assert frame.cut == "1016 x 30016 px of content, shown up to 1016 x 16384"


def test_the_scale_counts_against_the_caps() -> None:
    frame = framed((0, 0, 1000, 30_000), scale=2.0)
    assert (frame.width, frame.height) == (1016, 6151)


@pytest.mark.parametrize(
    ("edges", "scale", "box"),
    [
        ((110, 60, 130, 80), 1.0, Box(10, 10, 20, 20)),
        ((110.4, 60.6, 130.2, 80), 1.0, Box(10, 10, 21, 20)),
        ((110.4, 60.6, 130.2, 80), 2.0, Box(20, 21, 41, 39)),
        ((0, 0, 105, 55), 1.0, Box(0, 0, 5, 5)),
        ((190, 140, 900, 900), 1.0, Box(90, 90, 10, 10)),
        ((0, 0, 100, 50), 1.0, None),
        ((200, 50, 210, 150), 1.0, None),
    ],
    ids=["inside", "fractions", "scaled", "cut left", "cut right", "above", "beside"],
)
def test_what_is_ignored_is_each_pixel_that_it_touches(
    edges: tuple[float, float, float, float], scale: float, box: Box | None
) -> None:
    measured = Measured(None, 1280, 720, ignored=(edges, edges))
    boxes = ignored_in(measured, Frame(100, 50, 100, 100), scale)
    assert boxes == (() if box is None else (box,))


def test_no_more_is_ignored_than_a_message_holds() -> None:
    rows = tuple((0.0, float(y), 9.0, y + 1.0) for y in range(MAX_IGNORED + 1))
    measured = Measured(None, 1280, 720, ignored=rows)
    assert len(ignored_in(measured, Frame(0, 0, 100, 1000), 1.0)) == MAX_IGNORED


SIDE = st.floats(min_value=-1e6, max_value=1e6)


@given(SIDE, SIDE, SIDE, SIDE, st.sampled_from([0.5, 1.0, 1.5, 2.0, 4.0]))
def test_every_frame_can_be_shot(
    left: float, top: float, width: float, height: float, scale: float
) -> None:
    frame = framed((left, top, left + abs(width), top + abs(height)), scale)
    pixels = (round(frame.width * scale), round(frame.height * scale))
    assert frame.x >= 0
    assert frame.y >= 0
    assert min(frame.width, frame.height) >= 1
    assert max(pixels) <= MAX_SIDE_PX
    assert pixels[0] * pixels[1] <= MAX_PIXELS
