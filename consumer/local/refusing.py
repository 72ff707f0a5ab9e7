"""What keeps a capture from being begun; each has an exit code that scripts can tell apart."""

from storyshelf.errors import StoryshelfError

OK, FOUND, USAGE, NO_BROWSER, INTERRUPTED = 0, 1, 2, 3, 130


class CannotCaptureError(StoryshelfError):
    """The folder or an option cannot be used as it is."""

    exit_code = USAGE
