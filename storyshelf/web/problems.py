"""Errors as `application/problem+json`: what, where, and what to do next."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from storyshelf.errors import StoryshelfError
from storyshelf.queue.outage import may_pass

MEDIA_TYPE = "application/problem+json"
MAX_LISTED = 100  # of what is missing: enough to act on, whatever the size of the bundle
AWAY_FOR_S = 8  # with the client's six tries it bridges 40 s, in which a database fails over
BAD_VALUE = "22"  # the class of SQLSTATEs about a value, such as a NUL in a text

PLAIN_WORDS = {404: "There is nothing at this address", 405: "This address does not take that"}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Problem:
    """An error's answer; `kind` is its name in the form of a link."""

    status: int
    what: str
    kind: str = "error"
    where: str = ""
    next_step: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self) -> JSONResponse:
        """Return it as a response of the API."""
        content = {
            "type": f"about:blank#{self.kind}",
            "title": self.kind.replace("-", " "),
            "status": self.status,
            "what": self.what,
            "where": self.where,
            "next_step": self.next_step,
            **self.extra,
        }
        return JSONResponse(content, self.status, dict(self.headers), MEDIA_TYPE)


class ProblemError(HTTPException):
    """A problem that is raised below FastAPI's own error handling, which lets only these pass."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.status, problem.what)
        self.problem = problem


Show = Callable[[Request, Problem], Response]  # the API answers in JSON, pages with a page


def kind_of(error: StoryshelfError) -> str:
    """Return the name of an error's class in the form of a link: `missing-blobs`."""
    words = re.findall(r"[A-Z][a-z0-9]*", type(error).__name__.removesuffix("Error"))
    return "-".join(words).lower()


def add_handlers(app: FastAPI, show: Show) -> None:
    """Have every error of the app answered as a problem."""
    app.add_exception_handler(StoryshelfError, _handler(_expected, show))
    app.add_exception_handler(RequestValidationError, _handler(_malformed, show))
    app.add_exception_handler(HTTPException, _handler(_http, show))
    for away in (DBAPIError, PoolTimeoutError, ConnectionError, TimeoutError):
        app.add_exception_handler(away, _handler(_database, show))
    app.add_exception_handler(Exception, _handler(_unexpected, show))


def _handler(
    problem_of: Callable[[Any], Problem], show: Show
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        problem = problem_of(error)
        if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request.failed", path=request.url.path, error=str(error)[:500])
        return show(request, replace(problem, where=problem.where or request.url.path))

    return handle


def _expected(error: StoryshelfError) -> Problem:
    missing = getattr(error, "missing", None)
    extra = {} if missing is None else {"missing": list(missing)[:MAX_LISTED]}
    is_unknown = error.http_status == HTTPStatus.UNAUTHORIZED
    return Problem(
        error.http_status,
        error.what,
        kind_of(error),
        error.where,
        error.next_step,
        extra,
        {"WWW-Authenticate": "Bearer"} if is_unknown else {},
    )


def _malformed(error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        f"The request is malformed: {first['msg']}",
        kind="malformed-request",
        where=".".join(str(part) for part in first["loc"]),
        next_step="See the API's description at /api/v1/docs.",
    )


def _http(error: HTTPException) -> Problem:
    if isinstance(error, ProblemError):
        return error.problem
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    what = PLAIN_WORDS.get(error.status_code, str(error.detail))
    next_step = "Check the address; the API is described at /api/v1/docs."
    return Problem(error.status_code, what, kind, "", next_step, headers=error.headers or {})


def _database(error: Exception) -> Problem:
    if isinstance(error, DBAPIError) and _is_about_a_value(error):
        return Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "The request has a value that cannot be stored",
            kind="malformed-request",
            next_step="Send texts without NUL characters, and numbers that fit.",
        )
    is_refusal = isinstance(error, DBAPIError) and not may_pass(error)  # recovery too may pass
    if is_refusal and not isinstance(error, OperationalError | InterfaceError):
        return Problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "The database refused a statement",
            kind="database-error",
            next_step="Look into the server's log.",
        )
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The database does not answer",
        kind="database-away",
        next_step="Try again in a few seconds; nothing was done by halves.",
        headers={"Retry-After": str(AWAY_FOR_S)},
    )


def _is_about_a_value(error: DBAPIError) -> bool:
    """Tell a value that no statement could take from a statement that is wrong.

    The driver refuses some itself, with a ValueError and before there is an SQLSTATE.
    """
    code = getattr(error.orig, "sqlstate", None) or ""
    return code.startswith(BAD_VALUE) or isinstance(
        getattr(error.orig, "__cause__", None), ValueError
    )


def _unexpected(_error: Exception) -> Problem:
    return Problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something went wrong that should not have",
        kind="internal-error",
        next_step="Look into the server's log, and try again.",
    )
