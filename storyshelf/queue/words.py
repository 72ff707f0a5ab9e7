"""What an exception says to the people who read a job's error: its cause, and nothing of ours.

Whoever may see a build may see why its jobs failed, so a statement with its parameters and the
paths of this machine stay in the log.
"""

from sqlalchemy.exc import DBAPIError

from storyshelf.errors import StoryshelfError

MAX_CHARS = 4_000


def words_of(error: BaseException) -> str:
    """Return one text that every column takes: bounded, and without NUL."""
    return _said(error).replace("\0", "\N{REPLACEMENT CHARACTER}")[:MAX_CHARS]


def _said(error: BaseException) -> str:
    if isinstance(error, StoryshelfError):
        return str(error)
    if isinstance(error, DBAPIError):
        return f"The database refused a statement: {_driver_error(error)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    return str(error) or repr(error)


def _driver_error(error: DBAPIError) -> BaseException | None:
    """Return the driver's own error; what wraps it names a class of ours before the message."""
    return getattr(error.orig, "__cause__", None) or error.orig
