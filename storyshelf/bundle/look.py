"""How a page is asked to look while it is shot: media, language, globals, args, and when.

All of it can be compared, sorted and stored; what is as always is not stored.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

DEFAULT_LOCALE = "en-US"
DEFAULT_TIME_ZONE = "UTC"
MAX_NAME = 60  # characters of a locale, a time zone or a shot's name
MAX_SELECTORS = 30
MAX_SELECTOR = 199  # characters; the page cuts what is longer
MAX_PADDING_PX = 200
USUAL_PADDING_PX = 16  # shows shadows and outlines, and that nothing was cut
USUAL = -1  # of a padding: what the project says, or else the usual one
REAL_TIME = "real"
MAX_VALUES = 3_000  # characters of globals or args, as JSON: both fit in an address, escaped


class ColorScheme(StrEnum):
    """What `prefers-color-scheme` says."""

    LIGHT = "light"
    DARK = "dark"


class Motion(StrEnum):
    """What `prefers-reduced-motion` says; reduced moves less while it comes to rest."""

    REDUCE = "reduce"
    FREE = "no-preference"


class ForcedColors(StrEnum):
    """What `forced-colors` says, as a high contrast theme of a system would."""

    NONE = "none"
    ACTIVE = "active"


class Media(StrEnum):
    """Which of a style sheet's media the page is shown in."""

    SCREEN = "screen"
    PRINT = "print"


class Crop(StrEnum):
    """What part of the page the picture shows."""

    CONTENT = "content"  # its box, with a margin
    VIEWPORT = "viewport"  # the window, whatever is in it
    PAGE = "page"  # the window, and all of the page below and beside it


class Animations(StrEnum):
    """Where animations stand still."""

    END = "end"
    START = "start"


@dataclass(frozen=True, slots=True, order=True)
class Look:
    """What a picture is taken in besides its viewport; the defaults are of a story without wishes.

    `globals` and `args` are JSON objects with sorted keys, or empty for none. Raises ValueError for
    one that is too long.
    """

    locale: str = DEFAULT_LOCALE  # first: a page of another locale or time zone costs a new context
    time_zone: str = DEFAULT_TIME_ZONE
    color_scheme: ColorScheme = ColorScheme.LIGHT
    motion: Motion = Motion.REDUCE
    forced_colors: ForcedColors = ForcedColors.NONE
    media: Media = Media.SCREEN
    crop: Crop = Crop.CONTENT
    globals: str = ""
    args: str = ""
    ignored: tuple[str, ...] = ()  # selectors of what is not compared, besides the usual marks
    padding_px: int = USUAL
    time: str = ""  # REAL_TIME, or milliseconds since 1970; none: the instant of all stories
    animations: Animations = Animations.END
    scrollbars: bool = False  # shown where something can be scrolled
    scrolls: bool = False  # once through the page before its picture is taken
    wait_for: str = ""  # a selector of what has to be visible before
    shot: str = ""  # that the play function is to reach; none: its end

    def __post_init__(self) -> None:
        """Hold the bounds, whoever made it."""
        if max(map(len, (self.locale, self.time_zone, self.shot, self.time))) > MAX_NAME:
            msg = f"a locale, time zone, shot or time has more than {MAX_NAME} characters"
            raise ValueError(msg)
        if max(len(self.globals), len(self.args)) > MAX_VALUES:
            msg = f"globals or args have more than {MAX_VALUES} characters"
            raise ValueError(msg)
        longest = max(map(len, (self.wait_for, *self.ignored)))
        if len(self.ignored) > MAX_SELECTORS or longest > MAX_SELECTOR:
            msg = f"there are more than {MAX_SELECTORS} selectors, or one is too long"
            raise ValueError(msg)
        if not USUAL <= self.padding_px <= MAX_PADDING_PX:
            msg = f"a padding is not within {MAX_PADDING_PX} px"
            raise ValueError(msg)

    def is_drawn_like(self, other: "Look") -> bool:
        """Tell whether a page looks the same in both, whatever of it is shown and compared."""
        as_other = replace(
            self,
            crop=other.crop,
            ignored=other.ignored,
            padding_px=other.padding_px,
            scrolls=other.scrolls,
            wait_for=other.wait_for,
        )
        return as_other == other

    def to_json(self) -> dict[str, Any]:
        """Return what is not as always."""
        always = asdict(ALWAYS)
        return {name: value for name, value in asdict(self).items() if value != always[name]}

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> "Look":
        """Read what `to_json` wrote."""
        kinds: Mapping[str, Callable[[Any], Any]] = {
            "color_scheme": ColorScheme,
            "motion": Motion,
            "forced_colors": ForcedColors,
            "media": Media,
            "crop": Crop,
            "ignored": tuple,
            "padding_px": int,
            "animations": Animations,
            "scrollbars": bool,
            "scrolls": bool,
        }
        return cls(**{name: kinds.get(name, str)(value) for name, value in stored.items()})


ALWAYS = Look()
