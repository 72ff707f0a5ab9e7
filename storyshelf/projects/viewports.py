"""A viewport as people write it: `375`, `375px` or `1280x800`."""

import re

from storyshelf.bundle.parameters import DEFAULT_HEIGHT_PX, MAX_EDGE_PX, MIN_EDGE_PX, Viewport
from storyshelf.errors import BadInputError

WRITTEN = re.compile(r"([0-9]{1,5})(?:px|x([0-9]{1,5})(?:px)?)?")
LONGEST_SHOWN = 40


class BadViewportError(BadInputError):
    """A text that is no viewport, or one that no window can have."""

    def __init__(self, text: str) -> None:
        self.problem = (
            f"{text[:LONGEST_SHOWN]!r} is not a width or WIDTHxHEIGHT"
            f" within {MIN_EDGE_PX} to {MAX_EDGE_PX} px"
        )
        super().__init__(self.problem, next_step="Write it like 375 or 1280x800.")


def parse_viewport(text: str) -> Viewport:
    """Read a viewport; raises BadViewportError."""
    written = WRITTEN.fullmatch(text.lower())
    if written is None:
        raise BadViewportError(text)
    width, height = int(written[1]), int(written[2] or DEFAULT_HEIGHT_PX)
    if not all(MIN_EDGE_PX <= edge <= MAX_EDGE_PX for edge in (width, height)):
        raise BadViewportError(text)
    return Viewport(width, height)
