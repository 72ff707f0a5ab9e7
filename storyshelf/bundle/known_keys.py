"""Every key of a story's parameters that is looked at, and where else it may be written.

This is the one table: the script in the page hands out these keys and no others, the README lists
them, and tests hold that all three agree.
"""

from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """What a value of another tool has to be, or it is that tool's own affair."""

    FLAG = "boolean"
    NUMBER = "number"
    LIST = "array"
    TEXT = "string"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key of `parameters.storyshelf`; `sources` are tried in turn where it is not there.

    A source is a path in the parameters. `!happo` counts if it is `false`; `globals.` are the
    story's own globals.
    """

    name: str
    shape: Shape
    sources: tuple[str, ...] = ()


KNOWN_KEYS = (
    KnownKey(
        "disableSnapshot",
        Shape.FLAG,
        (
            "chromatic.disableSnapshot", "chromatic.disable", "percy.skip", "screenshot.skip",
            "lostpixel.disable", "loki.skip", "creevey.skip", "!happo",
        ),
    ),
    KnownKey("skip", Shape.TEXT),
    KnownKey("delay", Shape.NUMBER, (
        "chromatic.delay", "screenshot.delay", "lostpixel.waitBeforeScreenshot",
    )),
    KnownKey("viewport", Shape.TEXT, ("globals.viewport", "viewport.defaultViewport")),
    KnownKey("viewports", Shape.LIST, (
        "chromatic.viewports", "percy.widths", "lostpixel.breakpoints",
    )),
    KnownKey("modes", Shape.OBJECT, ("chromatic.modes", "argos.modes")),
    KnownKey("shots", Shape.LIST),
    KnownKey("diffThreshold", Shape.NUMBER, ("chromatic.diffThreshold",)),
    KnownKey("diffIncludeAntiAliasing", Shape.FLAG, ("chromatic.diffIncludeAntiAliasing",)),
    KnownKey("cropToViewport", Shape.FLAG, ("chromatic.cropToViewport",)),
    KnownKey("fullPage", Shape.FLAG, ("screenshot.fullPage", "vizzly.fullPage")),
    KnownKey("padding", Shape.NUMBER, ("argos.fitToContent.padding",)),
    KnownKey("forcedColors", Shape.TEXT, ("chromatic.forcedColors",)),
    KnownKey("prefersReducedMotion", Shape.TEXT, ("chromatic.prefersReducedMotion",)),
    KnownKey("colorScheme", Shape.TEXT),
    KnownKey("media", Shape.TEXT, ("chromatic.media",)),
    KnownKey("locale", Shape.TEXT),
    KnownKey("timeZone", Shape.TEXT),
    KnownKey("scale", Shape.NUMBER, ("storyshelf.deviceScaleFactor",)),
    KnownKey("scrollbars", Shape.FLAG),
    KnownKey("freezeTime", Shape.TEXT),
    KnownKey("waitFor", Shape.TEXT, ("percy.waitForSelector",)),
    KnownKey("scrollThrough", Shape.FLAG),
    KnownKey("pauseAnimationAtEnd", Shape.FLAG, ("chromatic.pauseAnimationAtEnd",)),
    KnownKey("isolation", Shape.TEXT),
    KnownKey("accessibility", Shape.TEXT, ("a11y",)),
    KnownKey("ignoreSelectors", Shape.LIST, (
        "chromatic.ignoreSelectors", "lostpixel.mask", "creevey.ignoreElements",
    )),
)  # fmt: skip
KEYS = tuple(key.name for key in KNOWN_KEYS)
