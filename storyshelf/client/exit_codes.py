"""What a finished command tells CI; the numbers are Chromatic's wherever it has one."""

from enum import IntEnum

from storyshelf.bundle.index import NoStoriesError
from storyshelf.errors import StoryshelfError


class ExitCode(IntEnum):
    """Numbers are promises: scripts compare them."""

    OK = 0
    CHANGES = 1
    ERRORS = 2
    FAILED = 3
    NO_STORIES = 4
    CANCELLED = 6
    UNREACHABLE = 201
    API_ERROR = 202
    WAIT_TIMEOUT = 220
    INVALID_OPTIONS = 254
    UNKNOWN = 255


BY_STATE = {
    "passed": ExitCode.OK,
    "accepted": ExitCode.OK,
    "skipped": ExitCode.OK,
    "pending": ExitCode.CHANGES,
    "denied": ExitCode.CHANGES,
    "broken": ExitCode.ERRORS,
    "failed": ExitCode.FAILED,
    "incomplete": ExitCode.FAILED,
    "cancelled": ExitCode.CANCELLED,
}


class OnChanges(IntEnum):
    """What changes that nobody accepted yet do to the exit code."""

    FAIL = 1
    EXIT_ZERO = 0


class ClientError(StoryshelfError):
    """A failure of the client that knows its exit code."""

    exit_code = ExitCode.UNKNOWN


class InvalidOptionsError(ClientError):
    """The command line, the environment or the folder named there cannot be used as it is."""

    exit_code = ExitCode.INVALID_OPTIONS


def code_of_state(state: str, on_changes: OnChanges = OnChanges.FAIL) -> ExitCode:
    """Return the code of an ended build; a state that this version does not know is 255."""
    code = BY_STATE.get(state, ExitCode.UNKNOWN)
    if code is ExitCode.CHANGES and on_changes is OnChanges.EXIT_ZERO:
        return ExitCode.OK  # errors are never excused by it
    return code


def code_of_error(error: StoryshelfError) -> ExitCode:
    """Return the code of a failed command: what is wrong with the folder is an invalid option."""
    if isinstance(error, ClientError):
        return error.exit_code
    if isinstance(error, NoStoriesError):
        return ExitCode.NO_STORIES
    return ExitCode.INVALID_OPTIONS
