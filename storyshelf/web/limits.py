"""Limits on every request's body: refused by its length, at the first byte too many, or silent."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storyshelf.web.problems import Problem, ProblemError

MAX_JSON_BYTES = 1 << 20
MAX_FORM_BYTES = 256 << 10  # of a page's form, whose worst takes a second to be read
MAX_STRANGERS_BYTES = 16 << 10  # of a form that anybody may send: the longest password, and more
SILENT_S = 60.0  # a body of which nothing comes for so long: its sender is gone, or holds us up
MANIFEST_BYTES_A_FILE = 1_300  # a path of 1,024 bytes, a hash, a size, and JSON around them


class BodyTooLargeError(ProblemError):
    """More bytes came than this path takes."""

    def __init__(self, limit: int, path: str) -> None:
        super().__init__(
            Problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The body is larger than the {limit:,} bytes allowed here",
                kind="body-too-large",
                where=path,
                next_step="Send less at once; /api/v1/limits lists what is allowed.",
                headers={"Connection": "close"},  # what still comes is not read
            )
        )


class BodySilentError(ProblemError):
    """The body was begun and does not go on."""

    def __init__(self, silent_s: float, path: str) -> None:
        super().__init__(
            Problem(
                HTTPStatus.REQUEST_TIMEOUT,
                f"Nothing of the body has come for {silent_s:g} s",
                kind="body-silent",
                where=path,
                next_step="Send it again; what was received whole is kept.",
                headers={"Connection": "close"},
            )
        )


class BodyLimit:
    """Middleware that ends a request whose body is larger than its path allows, or stands still."""

    def __init__(
        self, app: ASGIApp, limit_of: Callable[[str, str], int], silent_s: float = SILENT_S
    ) -> None:
        self.app = app
        self.limit_of = limit_of
        self.silent_s = silent_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body counted."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.limit_of(scope["method"], scope["path"])
        if _declared_length(scope) > limit:
            refused = BodyTooLargeError(limit, scope["path"]).problem.answer()
            await refused(scope, receive, send)
            return
        await self._counted(limit, scope, receive, send)

    async def _counted(self, limit: int, scope: Scope, receive: Receive, send: Send) -> None:
        received, is_whole = 0, False

        async def counted() -> Message:
            nonlocal received, is_whole
            if is_whole:  # what comes now is the end of the connection, whenever that is
                return await receive()
            message = await self._within_silence(receive, scope["path"])
            is_whole = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLargeError(limit, scope["path"])
            return message

        await self.app(scope, counted, send)

    async def _within_silence(self, receive: Receive, path: str) -> Message:
        try:
            async with asyncio.timeout(self.silent_s):
                return await receive()
        except TimeoutError:
            raise BodySilentError(self.silent_s, path) from None


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
