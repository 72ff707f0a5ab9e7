"""How much a story's picture shares with the stories shot before it."""

from enum import StrEnum


class Isolation(StrEnum):
    """What a story is shown in; whatever it is, only a page of its own makes a baseline."""

    SHARED = "shared"  # a page that shows one story after another; believed where nothing changed
    STRICT = "strict"  # a load of its own; caches and service workers are the build's
    FRESH = "fresh-context"  # a browser context of its own, in which nothing was loaded before
