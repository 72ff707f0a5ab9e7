"""What a story asks of its capture, read from `parameters.storyshelf` and other tools' names.

The values come out of a page that runs a stranger's code, so nothing is believed: only known keys
are looked at, and whatever is wrong becomes a warning beside the default, never a failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from storyshelf.bundle.accessibility import NO_WISH, AccessibilityWish, read_wish
from storyshelf.bundle.isolation import Isolation
from storyshelf.bundle.known_keys import KEYS
from storyshelf.bundle.look import ALWAYS, Look
from storyshelf.bundle.modes import Mode, read_look, read_modes
from storyshelf.bundle.reader import MAX_DELAY_MS, ParameterWarning, Reader, Values
from storyshelf.bundle.shots import picture_name, read_shots
from storyshelf.bundle.viewport import (
    DEFAULT_HEIGHT_PX,
    MAX_EDGE_PX,
    MAX_VIEWPORTS,
    MIN_EDGE_PX,
    SCALES,
    NoViewport,
    Viewport,
    read_viewport,
)
from storyshelf.ids import DEFAULT_MODE

__all__ = [
    "DEFAULT_HEIGHT_PX",
    "KEYS",
    "MAX_DELAY_MS",
    "MAX_EDGE_PX",
    "MAX_VIEWPORTS",
    "MIN_EDGE_PX",
    "ParameterWarning",
    "ReadParameters",
    "ShotMode",
    "StoryParameters",
    "Viewport",
    "modes_of",
    "parse_parameters",
]

MAX_REASON = 200  # characters of why a story is skipped


@dataclass(frozen=True, slots=True)
class StoryParameters:
    """One story's wishes; what is None is left to the project, or to the default."""

    disable_snapshot: bool = False
    delay_ms: int = 0
    viewports: tuple[Viewport, ...] = ()
    diff_threshold: float | None = None
    includes_edges: bool = False  # counts what is else forgiven as anti-aliasing
    skip_reason: str = ""  # in the author's words
    viewport: Viewport | None = None  # the one it is made for
    modes: tuple[Mode, ...] = ()
    look: Look = ALWAYS
    scale: float | None = None
    shots: tuple[str, ...] = ()  # named pictures on the way, besides the one at the end
    accessibility: AccessibilityWish = NO_WISH
    isolation: Isolation | None = None


@dataclass(frozen=True, slots=True)
class ReadParameters:
    """What was understood, and what was not."""

    parameters: StoryParameters
    warnings: tuple[ParameterWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class ShotMode:
    """One picture of a story: the mode's name, which is part of its key, and how it is taken."""

    name: str
    viewport: Viewport
    look: Look = ALWAYS


def parse_parameters(storyshelf: object, chromatic: object) -> ReadParameters:
    """Read the known keys; a key under `storyshelf` beats what other tools' names say of it.

    `chromatic` is the first of the other names for each key, see `known_keys`. A wrong value under
    `storyshelf` falls to the default, not to `chromatic`'s: the author meant to say something else
    there. `null` and `undefined` are no values. Modes of both are stacked.
    """
    reader = Reader()
    ours, others = _known(reader, "storyshelf", storyshelf), _known(reader, "chromatic", chromatic)
    values = others | ours
    look = read_look(reader, values, ALWAYS)
    skip_reason = _skip_reason(reader, values)
    modes = read_modes(reader, ours.get("modes"), others.get("modes"), look)
    parameters = StoryParameters(
        disable_snapshot=reader.flag(values, "disableSnapshot") or bool(skip_reason),
        delay_ms=reader.delay_ms(values, "delay"),
        viewports=reader.viewports(values, "viewports"),
        diff_threshold=reader.threshold(values, "diffThreshold"),
        includes_edges=reader.flag(values, "diffIncludeAntiAliasing"),
        skip_reason=skip_reason,
        viewport=_own_viewport(reader, ours, others),
        modes=modes,
        look=look,
        scale=reader.number_among(values, "scale", SCALES),
        shots=read_shots(reader, values, [mode.name for mode in modes]),
        accessibility=read_wish(reader, ours.get("accessibility"), others.get("accessibility")),
        isolation=reader.choice(values, "isolation", Isolation),
    )
    if parameters.modes and parameters.viewports:
        reader.warn("viewports", values["viewports"], "is ignored beside modes, which name theirs")
    return ReadParameters(parameters, tuple(reader.warnings))


def modes_of(
    parameters: StoryParameters, otherwise: tuple[Viewport, ...] = ()
) -> tuple[ShotMode, ...]:
    """Return the modes a story is shot in: its own, or one for each viewport, or `default`.

    Each is followed by the story's named shots in it. `otherwise` are the viewports of a story that
    names none.
    """
    return tuple(
        each
        for mode in _modes_at_the_end(parameters, otherwise)
        for each in (mode, *(_at(mode, shot) for shot in parameters.shots))
    )


def _at(mode: ShotMode, shot: str) -> ShotMode:
    return ShotMode(picture_name(mode.name, shot), mode.viewport, replace(mode.look, shot=shot))


def _modes_at_the_end(
    parameters: StoryParameters, otherwise: tuple[Viewport, ...]
) -> tuple[ShotMode, ...]:
    own = parameters.viewport or Viewport()
    if parameters.modes:
        return tuple(
            ShotMode(
                mode.name,
                _scaled(mode.viewport or own, mode.scale or parameters.scale),
                mode.look,
            )
            for mode in parameters.modes
        )
    viewports = parameters.viewports or (() if parameters.viewport else otherwise)
    named = [(viewport.mode_name, viewport) for viewport in viewports] or [(DEFAULT_MODE, own)]
    return tuple(
        ShotMode(name, _scaled(viewport, parameters.scale), parameters.look)
        for name, viewport in named
    )


def _scaled(viewport: Viewport, scale: float | None) -> Viewport:
    return viewport if scale is None else replace(viewport, scale=scale)


def _known(reader: Reader, name: str, source: object) -> dict[str, object]:
    if source is None:
        return {}
    if not isinstance(source, Mapping):
        reader.warn(f"parameters.{name}", source, "is not an object")
        return {}
    return {key: source[key] for key in KEYS if source.get(key) is not None}


def _skip_reason(reader: Reader, values: Values) -> str:
    """Read the author's reason; a plain `true` is one too, without words."""
    said = values.get("skip", "")
    if isinstance(said, bool):
        return "its parameters set skip" if said else ""
    if isinstance(said, str):
        return said.strip()[:MAX_REASON]
    reader.warn("skip", said, "is neither true nor a reason in words, ignored")
    return ""


def _own_viewport(reader: Reader, ours: Values, others: Values) -> Viewport | None:
    """Read the story's one viewport; Storybook's own may fill the window, which is no size."""
    if "viewport" in ours:
        return reader.viewport("viewport", ours["viewport"])
    read = read_viewport(others.get("viewport"))
    return None if isinstance(read, NoViewport) else read
