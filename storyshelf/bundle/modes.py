"""The modes of a story: named looks, stacked from project to component to story.

Storybook itself merges what the three levels say under one name; here the names that several tools
use for modes are stacked the same way, and what is left of each mode is read.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import available_timezones

from storyshelf.bundle.look import (
    MAX_PADDING_PX,
    MAX_SELECTOR,
    MAX_SELECTORS,
    MAX_VALUES,
    REAL_TIME,
    Animations,
    ColorScheme,
    Crop,
    ForcedColors,
    Look,
    Media,
    Motion,
)
from storyshelf.bundle.reader import Reader, Values
from storyshelf.bundle.viewport import SCALES, Viewport

MAX_MODES = 16  # each is a picture of its own
MAX_NAME = 60  # characters; it is part of a snapshot's key
OF_CHROMATIC = frozenset({"viewport", "disable", "forcedColors", "prefersReducedMotion"})
OF_OURS = OF_CHROMATIC | {
    "colorScheme", "media", "locale", "timeZone", "scale", "cropToViewport", "globals", "args",
    "ignoreSelectors", "fullPage", "padding", "freezeTime", "waitFor", "scrollThrough",
    "scrollbars",
    "pauseAnimationAtEnd",
}  # fmt: skip

FLAGS = {"scrollThrough": "scrolls", "scrollbars": "scrollbars"}  # of a look, by their keys

_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")
_TIME_ZONE = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}")

Stack = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Mode:
    """A story's wish for a picture; without a viewport of its own it has the story's."""

    name: str
    viewport: Viewport | None
    scale: float | None
    look: Look


def stacked(levels: Sequence[Stack]) -> dict[str, dict[str, object]]:
    """Merge modes by name, from the weakest level to the strongest.

    A field of a later level beats the same field of an earlier one; globals and args are merged
    value by value.
    """
    modes: dict[str, dict[str, object]] = {}
    for level in levels:
        for name, fields in level.items():
            below = modes.get(name, {})
            modes[name] = below | {key: _on(below.get(key), fields[key]) for key in fields}
    return modes


def read_modes(reader: Reader, ours: object, others: object, look: Look) -> tuple[Mode, ...]:
    """Read what `parameters.storyshelf.modes` says upon what other tools' modes say.

    `look` is the story's own, which a mode adds to. Modes that are disabled are left out; what is
    no known field under another tool's name is a global, as it is there.
    """
    below = reader.below("modes")
    levels = (_sorted_out(below, others, OF_CHROMATIC), _sorted_out(below, ours, OF_OURS))
    modes = stacked(levels)
    enabled = [name for name in modes if not below.below(name).flag(modes[name], "disable")]
    if len(enabled) > MAX_MODES:
        reader.warn("modes", modes, f"has more than {MAX_MODES} modes, the rest is ignored")
    return tuple(_mode(below, name, modes[name], look) for name in enabled[:MAX_MODES])


def read_look(reader: Reader, values: Values, look: Look) -> Look:
    """Return the look with what these values say of it."""
    changes: dict[str, Any] = {
        "color_scheme": reader.choice(values, "colorScheme", ColorScheme),
        "motion": reader.choice(values, "prefersReducedMotion", Motion),
        "forced_colors": reader.choice(values, "forcedColors", ForcedColors),
        "media": reader.choice(values, "media", Media),
        "locale": _locale(reader, values),
        "time_zone": _time_zone(reader, values),
        "crop": _crop(reader, values),
        "padding_px": reader.number_within(values, "padding", MAX_PADDING_PX),
        "time": _time(reader, values),
        "wait_for": _selector(reader, values),
    }
    if "pauseAnimationAtEnd" in values:
        is_at_end = reader.flag(values, "pauseAnimationAtEnd")
        changes["animations"] = Animations.END if is_at_end else Animations.START
    for key, name in FLAGS.items():
        if key in values:
            changes[name] = reader.flag(values, key)
    if "ignoreSelectors" in values:
        changes["ignored"] = reader.texts(values, "ignoreSelectors", MAX_SELECTORS, MAX_SELECTOR)
    return replace(look, **{name: value for name, value in changes.items() if value is not None})


def _on(below: object, above: object) -> object:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {**below, **above}
    return above


def _sorted_out(reader: Reader, raw: object, known: frozenset[str]) -> Stack:
    """Return each mode's known fields, the others among its globals; none of them is read yet."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        Reader("", reader.warnings).warn("modes", raw, "is not an object, ignored")
        return {}
    return {
        name: _fields(mode, known)
        for name, mode in raw.items()
        if _is_name(reader, name) and _is_mode(reader, name, mode)
    }


def _fields(mode: Mapping[str, object], known: frozenset[str]) -> dict[str, object]:
    fields = {key: value for key, value in mode.items() if key in known and value is not None}
    others = {key: value for key, value in mode.items() if key not in known}
    if others:
        given = fields.get("globals", {})
        fields["globals"] = {**others, **given} if isinstance(given, Mapping) else given
    return fields


def _is_name(reader: Reader, name: object) -> bool:
    fits = isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()
    if not fits:
        text = f"is no name of 1 to {MAX_NAME} printable characters, ignored"
        Reader("", reader.warnings).warn("modes", name, text)
    return fits


def _is_mode(reader: Reader, name: str, mode: object) -> bool:
    if not isinstance(mode, Mapping):
        reader.warn(name, mode, "is not an object, ignored")
    return isinstance(mode, Mapping)


def _mode(reader: Reader, name: str, fields: Values, look: Look) -> Mode:
    inside = reader.below(name)
    wish = fields.get("viewport")
    own = read_look(inside, fields, look)
    return Mode(
        name=name,
        viewport=None if wish is None else inside.viewport("viewport", wish),
        scale=inside.number_among(fields, "scale", SCALES),
        look=replace(
            own, globals=_values(inside, fields, "globals"), args=_values(inside, fields, "args")
        ),
    )


def _values(reader: Reader, fields: Values, key: str) -> str:
    values = fields.get(key, {})
    if not isinstance(values, Mapping):
        reader.warn(key, values, "is not an object, ignored")
        return ""
    written = _written(values)
    if written is None:
        reader.warn(key, values, f"is no JSON of up to {MAX_VALUES:,} characters, ignored")
    return written or ""


def _written(values: Values) -> str | None:
    if not values:
        return ""
    try:
        written = json.dumps(values, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return written if len(written) <= MAX_VALUES else None


def _crop(reader: Reader, values: Values) -> Crop | None:
    """Read two keys, of which the narrower one holds; a mode's `false` takes its story's back."""
    if "cropToViewport" not in values and "fullPage" not in values:
        return None
    if reader.flag(values, "cropToViewport"):
        return Crop.VIEWPORT
    return Crop.PAGE if reader.flag(values, "fullPage") else Crop.CONTENT


def _time(reader: Reader, values: Values) -> str | None:
    wish = values.get("freezeTime")
    if wish is None or wish is True:
        return None if wish is None else ""
    if wish is False:
        return REAL_TIME
    try:
        instant = datetime.fromisoformat(str(wish))
    except ValueError:
        text = "is neither true, false nor an instant such as 2024-05-15T12:00:00Z, ignored"
        reader.warn("freezeTime", wish, text)
        return None
    known = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return str(round(known.timestamp() * 1_000))


def _selector(reader: Reader, values: Values) -> str | None:
    wish = values.get("waitFor")
    if wish is None or (isinstance(wish, str) and 0 < len(wish) <= MAX_SELECTOR):
        return wish
    reader.warn("waitFor", wish, f"is no selector of 1 to {MAX_SELECTOR} characters, ignored")
    return None


def _locale(reader: Reader, values: Values) -> str | None:
    wish = values.get("locale")
    if wish is None or (isinstance(wish, str) and _LOCALE.fullmatch(wish)):
        return wish
    reader.warn("locale", wish, "is not a language tag such as de-CH, ignored")
    return None


def _time_zone(reader: Reader, values: Values) -> str | None:
    wish = values.get("timeZone")
    if wish is None or (isinstance(wish, str) and _is_time_zone(wish)):
        return wish
    reader.warn("timeZone", wish, "is not a time zone such as Europe/Zurich, ignored")
    return None


def _is_time_zone(wish: str) -> bool:
    known = _time_zones()  # none on a machine without the database: then the browser has the word
    return _TIME_ZONE.fullmatch(wish) is not None and (not known or wish in known)


@lru_cache(maxsize=1)
def _time_zones() -> frozenset[str]:
    return frozenset(available_timezones()) - {"Factory", "localtime"}
