"""Decides what part of the page the picture shows: the content's box, a margin, and the caps."""

import math
from dataclasses import dataclass

from consumer.messages import MAX_IGNORED, MAX_SIDE_PX, Box
from storyshelf.bundle.look import USUAL_PADDING_PX

MAX_PIXELS = 25_000_000  # 100 MB decoded; two of them and their mask fit in a consumer's budget


Edges = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Measured:
    """The content's edges and the viewport, in CSS pixels; `edges` is None for an empty page."""

    edges: Edges | None
    viewport_width_px: int
    viewport_height_px: int
    page: tuple[float, float] = (0, 0)  # width and height of all that can be scrolled to
    ignored: tuple[Edges, ...] = ()  # what is not compared
    unread: tuple[str, ...] = ()  # selectors that the browser does not understand


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of the page to be shot, in CSS pixels; `cut` says what the caps left out."""

    x: int
    y: int
    width: int
    height: int
    cut: str = ""

    @property
    def bottom(self) -> int:
        """The first row below."""
        return self.y + self.height

    @property
    def right(self) -> int:
        """The first column beside."""
        return self.x + self.width


def frame_of(measured: Measured, scale: float, margin_px: int = USUAL_PADDING_PX) -> Frame:
    """Return the frame around the content; an empty page is shown as its viewport."""
    if measured.edges is None:
        return Frame(0, 0, measured.viewport_width_px, measured.viewport_height_px)
    left, top, right, bottom = measured.edges
    x, y = max(0, math.floor(left) - margin_px), max(0, math.floor(top) - margin_px)
    width = math.ceil(right) + _margin(right, measured.viewport_width_px, margin_px) - x
    beyond = bottom > measured.viewport_height_px  # the page goes on below; to the right it may not
    margin = margin_px if beyond else _margin(bottom, measured.viewport_height_px, margin_px)
    height = math.ceil(bottom) + margin - y
    return _capped(Frame(x, y, max(1, width), max(1, height)), scale)


def frame_of_page(measured: Measured, scale: float) -> Frame:
    """Return the frame of the window and of all that can be scrolled to."""
    width = max(measured.viewport_width_px, math.ceil(measured.page[0]))
    height = max(measured.viewport_height_px, math.ceil(measured.page[1]))
    return _capped(Frame(0, 0, width, height), scale)


def frame_of_viewport(measured: Measured, scale: float) -> Frame:
    """Return the window's frame, whatever is in it."""
    return _capped(Frame(0, 0, measured.viewport_width_px, measured.viewport_height_px), scale)


def ignored_in(measured: Measured, frame: Frame, scale: float) -> tuple[Box, ...]:
    """Return what is not compared in pixels of the picture, each pixel that it touches in full."""
    wide, high = round(frame.width * scale), round(frame.height * scale)
    boxes: dict[Box, None] = {}
    for left, top, right, bottom in measured.ignored[:MAX_IGNORED]:
        x, width = _span((left - frame.x) * scale, (right - frame.x) * scale, wide)
        y, height = _span((top - frame.y) * scale, (bottom - frame.y) * scale, high)
        if width and height:
            boxes[Box(x, y, width, height)] = None
    return tuple(boxes)


def _span(begin: float, end: float, limit: int) -> tuple[int, int]:
    """Return the first pixel and how many, of those within the limit."""
    first = min(max(0, math.floor(begin)), limit)
    return first, max(0, min(math.ceil(end), limit) - first)


def _margin(edge: float, viewport_px: int, margin_px: int) -> int:
    """No margin beside what ends at the viewport's edge: there is no page to show there."""
    return max(0, min(margin_px, viewport_px - math.ceil(edge)))


def _capped(frame: Frame, scale: float) -> Frame:
    side = int(MAX_SIDE_PX / scale)
    width = min(frame.width, side)
    rows = MAX_PIXELS // math.ceil(width * scale)
    height = min(frame.height, side, max(1, int(rows / scale)))
    if (width, height) == (frame.width, frame.height):
        return frame
    cut = f"{frame.width} x {frame.height} px of content, shown up to {width} x {height}"
    return Frame(frame.x, frame.y, width, height, cut)
