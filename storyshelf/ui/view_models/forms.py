"""A form's fields as they are shown: with what was typed, and what is wrong with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storyshelf.errors import StoryshelfError
from storyshelf.ui.words import sentence


@dataclass(frozen=True, slots=True)
class Field:
    """One field; `value` is what was typed, or what is there."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of several."""

    value: str
    word: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """What came of what was sent: `good` or `bad`, what it is, and what to do next."""

    tone: str
    what: str
    next_step: str = ""


def done(what: str) -> Notice:
    """Return what was done, as a page says it."""
    return Notice("good", what)


def refused(error: StoryshelfError) -> Notice:
    """Return why something was not done, as a page says it."""
    return Notice("bad", sentence(error.what), sentence(error.next_step))


def wrong(problems: Mapping[str, str]) -> Notice | None:
    """Return what stands over a form with wrong fields; None: none is wrong."""
    if not problems:
        return None
    return Notice("bad", "Nothing was changed", "Mend what is marked below and send it again.")


def error_words(error: StoryshelfError) -> str:
    """Return what a field says of a value that was refused."""
    return f"{sentence(error.what)} {sentence(error.next_step)}"


def choices(words: Mapping[str, str] | Iterable[str], chosen: str) -> Sequence[Option]:
    """Return options, by value; without words of their own they are called by it."""
    pairs = words.items() if isinstance(words, Mapping) else ((word, word) for word in words)
    return [Option(value, word, value == chosen) for value, word in pairs]
