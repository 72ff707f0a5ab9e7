"""Errors as `application/problem+json`: what, where, and what to do next."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from starlette.exceptions import HTTPException

from storyshelf.errors import StoryshelfError

MEDIA_TYPE = "application/problem+json"
MAX_LISTED = 100  # of what is missing: enough to act on, whatever the size of the bundle
AWAY = "The database does not answer"

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

    def answer(self) -> JSONResponse:
        """Return it as a response."""
        content = {
            "type": f"about:blank#{self.kind}",
            "title": self.kind.replace("-", " "),
            "status": self.status,
            "what": self.what,
            "where": self.where,
            "next_step": self.next_step,
            **self.extra,
        }
        return JSONResponse(content, status_code=self.status, media_type=MEDIA_TYPE)


def kind_of(error: StoryshelfError) -> str:
    """Return the name of an error's class in the form of a link: `missing-blobs`."""
    words = re.findall(r"[A-Z][a-z0-9]*", type(error).__name__.removesuffix("Error"))
    return "-".join(words).lower()


def add_handlers(app: FastAPI) -> None:
    """Have every error of the app answered as a problem."""
    app.add_exception_handler(StoryshelfError, _expected)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    for away in (OperationalError, InterfaceError, ConnectionError, TimeoutError):
        app.add_exception_handler(away, _database_away)
    app.add_exception_handler(DBAPIError, _database_error)


async def _expected(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StoryshelfError), "registered for this class"
    missing = getattr(error, "missing", None)
    extra = {} if missing is None else {"missing": list(missing)[:MAX_LISTED]}
    kind = kind_of(error)
    words = Problem(error.http_status, error.what, kind, error.where, error.next_step, extra)
    answer = words.answer()
    if error.http_status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


async def _malformed(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError), "registered for this class"
    first = error.errors()[0]
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        f"The request is malformed: {first['msg']}",
        kind="malformed-request",
        where=".".join(str(part) for part in first["loc"]),
        next_step="See the API's description at /api/v1/docs.",
    ).answer()


async def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException), "registered for this class"
    phrase = HTTPStatus(error.status_code).phrase
    kind = phrase.lower().replace(" ", "-")
    answer = Problem(error.status_code, str(error.detail), kind).answer()
    answer.headers.update(error.headers or {})
    return answer


async def _database_away(request: Request, error: Exception) -> JSONResponse:
    log.warning("database.away", path=request.url.path, error=str(error)[:200])
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        AWAY,
        kind="database-away",
        next_step="Try again in a few seconds; nothing was done by halves.",
    ).answer()


async def _database_error(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return await _database_away(request, error)
    log.error("database.error", path=request.url.path, error=str(error)[:500])
    return Problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "The database refused a statement",
        kind="database-error",
        next_step="Look into the server's log.",
    ).answer()
