"""A window's size: as numbers, as `{width, height}`, or by one of Storybook's names."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_WIDTH_PX = 1280
DEFAULT_HEIGHT_PX = 720
MIN_EDGE_PX = 200
MAX_EDGE_PX = 2560
SCALES = (1.0, 1.5, 2.0, 3.0)  # of the screens that people have; each is a picture that much larger
MAX_VIEWPORTS = 16  # each is a picture of its own; more is a loop that went wrong

_WRITTEN_PX = re.compile(r"([0-9]{1,5})(?:px)?")


@dataclass(frozen=True, slots=True, order=True)
class Viewport:
    """A window's inner size in CSS pixels; `scale` is device pixels per CSS pixel."""

    width_px: int = DEFAULT_WIDTH_PX
    height_px: int = DEFAULT_HEIGHT_PX
    scale: float = 1.0

    @property
    def mode_name(self) -> str:
        """Name the mode of a story shot in it: `320px`, or `320x568` where the height matters."""
        if self.height_px == DEFAULT_HEIGHT_PX:
            return f"{self.width_px}px"
        return f"{self.width_px}x{self.height_px}"


# What Storybook's toolbar offers where a Storybook lists no viewports of its own.
NAMED: Mapping[str, Viewport] = {
    "mobile1": Viewport(320, 568),
    "mobile2": Viewport(414, 896),
    "tablet": Viewport(834, 1112),
    "desktop": Viewport(1280, 1024),
}


@dataclass(frozen=True, slots=True)
class NoViewport:
    """Why a wish is no viewport: a stable code, and the end of a sentence that names it."""

    code: str
    problem: str


def read_viewport(wish: object) -> Viewport | NoViewport:
    """Read a width, `{width, height}` or a name; a width alone is as high as the default."""
    if isinstance(wish, str) and wish in NAMED:
        return NAMED[wish]
    if isinstance(wish, Mapping):
        width, height = _px(wish.get("width")), _px(wish.get("height", DEFAULT_HEIGHT_PX))
    else:
        width, height = _px(wish), DEFAULT_HEIGHT_PX
    if width is None and isinstance(wish, str):
        return NoViewport("unknown_viewport", "is not a viewport known here, ignored")
    if width is None or height is None:
        problem = "is not a width or {width, height} in pixels, ignored"
        return NoViewport("bad_parameter", problem)
    if not all(MIN_EDGE_PX <= edge <= MAX_EDGE_PX for edge in (width, height)):
        problem = f"is not within {MIN_EDGE_PX} to {MAX_EDGE_PX} px, ignored"
        return NoViewport("bad_parameter", problem)
    return Viewport(width, height)


def finite(value: object) -> float | None:
    """Return a number that can be reckoned with, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _px(value: object) -> int | None:
    if isinstance(value, str):
        written = _WRITTEN_PX.fullmatch(value.strip())
        return int(written[1]) if written else None
    number = finite(value)
    return int(number) if number is not None and number.is_integer() else None
