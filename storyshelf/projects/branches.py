"""Which branches a glob means: `*` and `?` stop at a slash, `**` does not."""

import re
from collections.abc import Iterable, Sequence

from storyshelf.errors import BadInputError

MAX_GLOB = 200
UNKNOWN = re.compile(r"[\[\]\\!~^:\x00-\x20\x7f]")  # no branch has them, or they promise too much
TOKEN = re.compile(r"\*{2,}|.", re.DOTALL)


class BadGlobError(BadInputError):
    """A glob that no branch can be meant by."""

    def __init__(self, glob: str, problem: str) -> None:
        self.problem = f"{glob[:MAX_GLOB]!r} {problem}"
        super().__init__(
            self.problem,
            next_step="Use a branch's name, with `*` for a part of it and `**` for slashes too.",
        )


def parse_glob(text: str) -> str:
    """Return the glob as it is, or refuse it with BadGlobError."""
    if not 1 <= len(text) <= MAX_GLOB:
        raise BadGlobError(text, f"is not of 1 to {MAX_GLOB} characters")
    if found := UNKNOWN.search(text):
        raise BadGlobError(text, f"has {found[0]!r}, which means nothing in a branch's name")
    return text


def is_among(branch: str, globs: Iterable[str]) -> bool:
    """Tell whether one of the globs means the branch."""
    return any(_means(TOKEN.findall(glob), branch) for glob in globs)


def _means(tokens: Sequence[str], branch: str) -> bool:
    """Go through the branch with every place in the glob at once: no glob makes that slow."""
    places = _passed({0}, tokens)
    for char in branch:
        here = (place for place in places if place < len(tokens) and _fits(tokens[place], char))
        places = _passed(
            {place if _is_star(tokens[place]) else place + 1 for place in here}, tokens
        )
    return len(tokens) in places


def _passed(places: set[int], tokens: Sequence[str]) -> set[int]:
    """Return the places, with those that stars which stand for nothing lead to."""
    for place in range(len(tokens)):
        if place in places and _is_star(tokens[place]):
            places.add(place + 1)
    return places


def _is_star(token: str) -> bool:
    return token.startswith("*")


def _fits(token: str, char: str) -> bool:
    if token in {"*", "?"}:
        return char != "/"
    return token == char or _is_star(token)
