"""What can go wrong between the client and the server, in words and exit codes."""

from collections.abc import Sequence
from pathlib import Path

from storyshelf.client.answers import Problem
from storyshelf.client.exit_codes import ClientError, ExitCode

NO_STORIES_TYPE = "about:blank#no-stories"
TOKEN_STATUSES = frozenset({401, 403})
AWAY_STATUSES = frozenset({429, 502, 503, 504})  # of the server, or of a proxy before it


class ServerUnreachableError(ClientError):
    """No answer, after all tries."""

    exit_code = ExitCode.UNREACHABLE

    def __init__(self, url: str, reason: str, tries: int) -> None:
        super().__init__(
            f"The server does not answer: {reason}",
            where=f"{url}, {tries} tries",
            next_step="Check STORYSHELF_URL and that the server runs; "
            "the same command goes on where this one stopped.",
        )


class ApiProblemError(ClientError):
    """The server refused, and said why."""

    def __init__(
        self, status: int, problem: Problem, *, request: str, request_id: str = ""
    ) -> None:
        where = problem.where or request
        super().__init__(
            problem.what or problem.title or f"The server answered {status}",
            where=f"{where}, request {request_id}" if request_id else where,
            next_step=problem.next_step or _usual_next_step(status),
        )
        self.status = status
        self.problem = problem

    @property
    def exit_code(self) -> ExitCode:  # type: ignore[override]  # decided by the problem
        """Return 4 when the Storybook has no stories, else 202."""
        no_stories = self.problem.type == NO_STORIES_TYPE
        return ExitCode.NO_STORIES if no_stories else ExitCode.API_ERROR


def is_away(error: ClientError) -> bool:
    """Tell whether the server, or the database behind it, is away for now; it refused nothing."""
    if isinstance(error, ApiProblemError):
        return error.status in AWAY_STATUSES
    return isinstance(error, ServerUnreachableError)


class BadAnswerError(ClientError):
    """Something answered that does not speak this API."""

    exit_code = ExitCode.API_ERROR

    def __init__(self, request: str, problem: str) -> None:
        super().__init__(
            f"The answer is not one of a storyshelf server: {problem}",
            where=request,
            next_step="Check STORYSHELF_URL: it may name another service, a sign-in page or an "
            "address that redirects; else the server and this client are of different versions.",
        )


class FileChangedError(ClientError):
    """A file is not what it was when it was hashed."""

    exit_code = ExitCode.INVALID_OPTIONS

    def __init__(self, path: Path) -> None:
        super().__init__(
            "The file changed while it was uploaded",
            where=str(path),
            next_step="Wait until the Storybook's build has ended, then upload again.",
        )


class StillMissingError(ClientError):
    """The server goes on missing what was sent to it."""

    exit_code = ExitCode.API_ERROR

    def __init__(self, keys: Sequence[str], rounds: int) -> None:
        super().__init__(
            f"{len(keys)} files are still missing on the server after {rounds} rounds",
            where=f"the first is {keys[0]}" if keys else "",
            next_step="Run the same command again; if it stays so, look at the server's storage "
            "with `storyshelf doctor`.",
        )


class WaitTimeoutError(ClientError):
    """The build has not ended in the time given."""

    exit_code = ExitCode.WAIT_TIMEOUT

    def __init__(self, number: int, url: str, *, state: str, waited_s: float) -> None:
        super().__init__(
            f"Build {number} has not ended after {waited_s:.0f} s; it is {state}",
            where=url,
            next_step=f"It goes on. Run `storyshelf wait {number}`, with a longer --timeout.",
        )


def _usual_next_step(status: int) -> str:
    if status in TOKEN_STATUSES:
        return "Check STORYSHELF_PROJECT_TOKEN: it must be a token of this project on this server."
    return ""
