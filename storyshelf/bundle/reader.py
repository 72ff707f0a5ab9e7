"""Reads single values that a stranger wrote; what is wrong becomes a warning beside the default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from storyshelf.bundle.paths import shown
from storyshelf.bundle.viewport import MAX_VIEWPORTS, NoViewport, Viewport, finite, read_viewport

MAX_DELAY_MS = 15_000  # as long as a render may take in all

_UNREADABLE = 10**18  # a message never prints more digits than a reader takes in
Choice = TypeVar("Choice", bound=StrEnum)
Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ParameterWarning:
    """Why a wish was not followed: a stable code, and a sentence for the story's author."""

    code: str
    text: str


@dataclass(slots=True)
class Reader:
    """Collects warnings while keys are read; `prefix` is said before each key's name."""

    prefix: str = ""
    warnings: list[ParameterWarning] = field(default_factory=list)

    def below(self, name: str) -> "Reader":
        """Return a reader of what is inside an object; its warnings are this one's."""
        return Reader(f"{self.prefix}{name}.", self.warnings)

    def warn(self, key: str, value: object, problem: str, code: str = "bad_parameter") -> None:
        """Note that a value was not followed."""
        text = f"{self.prefix}{key}: {described(value)} {problem}"
        self.warnings.append(ParameterWarning(code, text))

    def flag(self, values: Values, key: str) -> bool:
        """Read true or false; false where there is nothing."""
        value = values.get(key, False)
        if isinstance(value, bool):
            return value
        self.warn(key, value, "is not true or false, ignored")
        return False

    def delay_ms(self, values: Values, key: str) -> int:
        """Read a number of milliseconds, cut to the limit."""
        value = values.get(key, 0)
        number = finite(value)
        if number is None or number < 0:
            self.warn(key, value, "is not a number of milliseconds ≥ 0, ignored")
            return 0
        if number > MAX_DELAY_MS:
            self.warn(key, value, f"is more than {MAX_DELAY_MS} ms, cut to that")
            return MAX_DELAY_MS
        return round(number)

    def threshold(self, values: Values, key: str) -> float | None:
        """Read a share, None where there is nothing."""
        if key not in values:
            return None
        number = finite(values[key])
        if number is None or not 0 <= number <= 1:
            self.warn(key, values[key], "is not a number from 0 to 1, ignored")
            return None
        return number

    def number_among(self, values: Values, key: str, choices: tuple[float, ...]) -> float | None:
        """Read one of a few numbers."""
        if key not in values:
            return None
        number = finite(values[key])
        if number not in choices:
            known = ", ".join(f"{choice:g}" for choice in choices)
            self.warn(key, values[key], f"is none of {known}, ignored")
            return None
        return number

    def number_within(self, values: Values, key: str, most: int) -> int | None:
        """Read a whole number of pixels from 0 to the limit."""
        if key not in values:
            return None
        number = finite(values[key])
        if number is None or not (0 <= number <= most and number.is_integer()):
            self.warn(key, values[key], f"is not a whole number from 0 to {most}, ignored")
            return None
        return int(number)

    def choice(self, values: Values, key: str, kind: type[Choice]) -> Choice | None:
        """Read one of an enum's words."""
        if key not in values:
            return None
        found = next((each for each in kind if each.value == values[key]), None)
        if found is None:
            self.warn(key, values[key], f"is none of {', '.join(kind)}, ignored")
        return found

    def texts(self, values: Values, key: str, most: int, chars: int) -> tuple[str, ...]:
        """Read a list of texts, or a single one, each once."""
        wished = values.get(key, [])
        listed = [wished] if isinstance(wished, str) else wished
        if not isinstance(listed, list | tuple):
            self.warn(key, wished, "is not a list, ignored")
            return ()
        fit = [wish for wish in listed if isinstance(wish, str) and 0 < len(wish.strip()) <= chars]
        if len(fit) < len(listed):
            self.warn(
                key, wished, f"has what is no text of 1 to {chars} characters, which is ignored"
            )
        once = tuple(dict.fromkeys(wish.strip() for wish in fit))
        if len(once) > most:
            self.warn(key, wished, f"has more than {most} entries, the rest is ignored")
        return once[:most]

    def viewports(self, values: Values, key: str) -> tuple[Viewport, ...]:
        """Read a list of viewports, each once."""
        wished = values.get(key, [])
        if not isinstance(wished, list | tuple):
            self.warn(key, wished, "is not a list, ignored")
            return ()
        if len(wished) > MAX_VIEWPORTS:
            self.warn(key, wished, f"has more than {MAX_VIEWPORTS} entries, the rest is ignored")
        read = [self.viewport(key, wish) for wish in wished[:MAX_VIEWPORTS]]
        return tuple(dict.fromkeys(viewport for viewport in read if viewport is not None))

    def viewport(self, key: str, wish: object) -> Viewport | None:
        """Read one viewport."""
        read = read_viewport(wish)
        if isinstance(read, NoViewport):
            self.warn(key, wish, read.problem, read.code)
            return None
        return read


def described(value: object) -> str:
    """Return a value as a warning may show it: short, and of printable characters."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int | float):
        return "a very large number" if abs(value) >= _UNREADABLE else str(value)
    return "a list" if isinstance(value, list | tuple) else "an object"
