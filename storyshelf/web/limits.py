"""A limit on every request's body: refused by its length, or at the first byte too many."""

from collections.abc import Callable
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storyshelf.web.problems import Problem, ProblemError

MAX_JSON_BYTES = 1 << 20
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


class BodyLimit:
    """Middleware that ends a request whose body is larger than its path allows."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[str, str], int]) -> None:
        self.app = app
        self.limit_of = limit_of

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
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLargeError(limit, scope["path"])
            return message

        await self.app(scope, counted, send)


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
