"""The named shots of a story: pictures of its own on the way through its play function.

A shot is declared, so that planning knows it; each is taken in every mode of the story, and is a
snapshot of its own under a name that says both.
"""

from collections.abc import Sequence

from storyshelf.bundle.reader import Reader, Values
from storyshelf.ids import DEFAULT_MODE

MAX_SHOTS = 10  # each is a picture of its own in every mode, and plays the story anew
MAX_NAME = 40  # characters; it is part of a snapshot's key


def read_shots(reader: Reader, values: Values, modes: Sequence[str]) -> tuple[str, ...]:
    """Read the declared names, each once; one that would name two pictures alike is left out."""
    wished = values.get("shots", [])
    if not isinstance(wished, list | tuple):
        reader.warn("shots", wished, "is not a list of names, ignored")
        return ()
    taken, names = set(modes) or {DEFAULT_MODE}, list[str]()
    for wish in dict.fromkeys(each for each in wished if _is_name(reader, each)):
        if _pictures(wish, modes) & taken:
            reader.warn("shots", wish, "is the name of another picture of the story, ignored")
            continue
        taken |= _pictures(wish, modes)
        names.append(wish)
    if len(names) > MAX_SHOTS:
        reader.warn("shots", wished, f"has more than {MAX_SHOTS} names, the rest is ignored")
    return tuple(names[:MAX_SHOTS])


def picture_name(mode: str, shot: str) -> str:
    """Name the picture of a shot in a mode; of a story without modes it is the shot's own name."""
    return shot if mode == DEFAULT_MODE else f"{mode} @ {shot}"


def _pictures(shot: str, modes: Sequence[str]) -> set[str]:
    return {picture_name(mode, shot) for mode in modes or (DEFAULT_MODE,)}


def _is_name(reader: Reader, wish: object) -> bool:
    fits = isinstance(wish, str) and 0 < len(wish) <= MAX_NAME and wish.isprintable()
    if not fits:
        text = f"is no name of 1 to {MAX_NAME} printable characters, ignored"
        reader.warn("shots", wish, text)
    return fits
