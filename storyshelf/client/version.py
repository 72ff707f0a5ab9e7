"""The version of this program, for the server's log and for people."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """Return the installed version; `source` when it runs from a checkout nobody installed."""
    try:
        return version("storyshelf")
    except PackageNotFoundError:
        return "source"
