"""What a story asks of its capture, read from `parameters.storyshelf` or `parameters.chromatic`.

The values come out of a page that runs a stranger's code, so nothing is believed: only known keys
are looked at, and whatever is wrong becomes a warning beside the default, never a failure.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from storyshelf.bundle.paths import shown
from storyshelf.ids import DEFAULT_MODE

DEFAULT_WIDTH_PX = 1280
DEFAULT_HEIGHT_PX = 720
MIN_EDGE_PX = 200
MAX_EDGE_PX = 2560
MAX_DELAY_MS = 15_000  # as long as a render may take in all
MAX_VIEWPORTS = 16  # each is a picture of its own; more is a loop that went wrong
KEYS = ("disableSnapshot", "delay", "viewports", "diffThreshold")

_UNREADABLE = 10**18  # a message never prints more digits than a reader takes in
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


@dataclass(frozen=True, slots=True)
class StoryParameters:
    """One story's wishes; `diff_threshold` None leaves it to the project."""

    disable_snapshot: bool = False
    delay_ms: int = 0
    viewports: tuple[Viewport, ...] = ()
    diff_threshold: float | None = None


@dataclass(frozen=True, slots=True)
class ParameterWarning:
    """Why a wish was not followed: a stable code, and a sentence for the story's author."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadParameters:
    """What was understood, and what was not."""

    parameters: StoryParameters
    warnings: tuple[ParameterWarning, ...] = ()


def parse_parameters(storyshelf: object, chromatic: object) -> ReadParameters:
    """Read the known keys; a key under `storyshelf` beats the same key under `chromatic`.

    A wrong value under `storyshelf` falls to the default, not to `chromatic`'s: the author meant
    to say something else there. `null` and `undefined` are no values.
    """
    reader = _Reader()
    values = reader.merged({"storyshelf": storyshelf, "chromatic": chromatic})
    parameters = StoryParameters(
        disable_snapshot=reader.flag(values, "disableSnapshot"),
        delay_ms=reader.delay_ms(values, "delay"),
        viewports=reader.viewports(values, "viewports"),
        diff_threshold=reader.threshold(values, "diffThreshold"),
    )
    return ReadParameters(parameters, tuple(reader.warnings))


def modes_of(parameters: StoryParameters) -> tuple[tuple[str, Viewport], ...]:
    """Return the modes a story is shot in: one called `default`, or one for each viewport."""
    if not parameters.viewports:
        return ((DEFAULT_MODE, Viewport()),)
    return tuple((viewport.mode_name, viewport) for viewport in parameters.viewports)


@dataclass(slots=True)
class _Reader:
    """Collects warnings while the keys are read."""

    warnings: list[ParameterWarning] = field(default_factory=list)

    def merged(self, sources: Mapping[str, object]) -> dict[str, object]:
        values: dict[str, object] = {}
        for name, source in sources.items():
            if source is None:
                continue
            if not isinstance(source, Mapping):
                self.warn(f"parameters.{name}", source, "is not an object")
                continue
            found = {key: source.get(key) for key in KEYS if source.get(key) is not None}
            values = found | values
        return values

    def warn(self, key: str, value: object, problem: str, code: str = "bad_parameter") -> None:
        self.warnings.append(ParameterWarning(code, f"{key}: {_described(value)} {problem}"))

    def flag(self, values: Mapping[str, object], key: str) -> bool:
        value = values.get(key, False)
        if isinstance(value, bool):
            return value
        self.warn(key, value, "is not true or false, ignored")
        return False

    def delay_ms(self, values: Mapping[str, object], key: str) -> int:
        value = values.get(key, 0)
        number = _number(value)
        if number is None or number < 0:
            self.warn(key, value, "is not a number of milliseconds ≥ 0, ignored")
            return 0
        if number > MAX_DELAY_MS:
            self.warn(key, value, f"is more than {MAX_DELAY_MS} ms, cut to that")
            return MAX_DELAY_MS
        return round(number)

    def threshold(self, values: Mapping[str, object], key: str) -> float | None:
        if key not in values:
            return None
        number = _number(values[key])
        if number is None or not 0 <= number <= 1:
            self.warn(key, values[key], "is not a number from 0 to 1, ignored")
            return None
        return number

    def viewports(self, values: Mapping[str, object], key: str) -> tuple[Viewport, ...]:
        wished = values.get(key, [])
        if not isinstance(wished, list | tuple):
            self.warn(key, wished, "is not a list, ignored")
            return ()
        if len(wished) > MAX_VIEWPORTS:
            self.warn(key, wished, f"has more than {MAX_VIEWPORTS} entries, the rest is ignored")
        read = [self.viewport(key, wish) for wish in wished[:MAX_VIEWPORTS]]
        return tuple(dict.fromkeys(viewport for viewport in read if viewport is not None))

    def viewport(self, key: str, wish: object) -> Viewport | None:
        sized = isinstance(wish, Mapping)
        width = _px(wish.get("width") if isinstance(wish, Mapping) else wish)
        height = _px(wish.get("height", DEFAULT_HEIGHT_PX)) if isinstance(wish, Mapping) else None
        height = height if sized else DEFAULT_HEIGHT_PX
        if width is None and isinstance(wish, str):
            self.warn(key, wish, "is not a viewport known here, ignored", "unknown_viewport")
            return None
        if width is None or height is None:
            self.warn(key, wish, "is not a width or {width, height} in pixels, ignored")
            return None
        if not all(MIN_EDGE_PX <= edge <= MAX_EDGE_PX for edge in (width, height)):
            self.warn(key, wish, f"is not within {MIN_EDGE_PX} to {MAX_EDGE_PX} px, ignored")
            return None
        return Viewport(width, height)


def _number(value: object) -> float | None:
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
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _described(value: object) -> str:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int | float):
        return "a very large number" if abs(value) >= _UNREADABLE else str(value)
    return "a list" if isinstance(value, list | tuple) else "an object"
