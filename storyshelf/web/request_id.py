"""Every request has an id: the caller's own if it is a plain one, else one made here.

It is in the answer, in every line that is logged on the way, and with a build's upload it goes on
to the build's jobs. What a caller sends is hostile until it is read: it ends in logs and headers.
"""

import re
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storyshelf.client.traceparent import parse_traceparent
from storyshelf.queue.job import Trace

HEADER = "X-Request-Id"
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}", re.ASCII)
TRACE = "storyshelf.trace"  # in the request's state


class RequestIds:
    """Middleware that names each request, outside of everything that may refuse it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on under its id."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        trace = trace_in(Headers(scope=scope))
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state[TRACE] = trace

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = str(trace.request_id)
            await send(message)

        with structlog.contextvars.bound_contextvars(request=trace.request_id):
            await self.app(scope, receive, named)


def trace_in(headers: Headers) -> Trace:
    """Return the trace that the headers carry; one that is unclear is not believed."""
    ids = headers.getlist(HEADER)
    contexts = headers.getlist("traceparent")
    is_plain = len(ids) == 1 and PLAIN.fullmatch(ids[0])
    return Trace(
        request_id=ids[0] if is_plain else uuid4().hex,
        traceparent=parse_traceparent(contexts[0]) if len(contexts) == 1 else None,
    )


def trace_of(request: Request) -> Trace:
    """Return the trace of a request that came through the middleware."""
    found = request.scope.get("state", {}).get(TRACE)
    return found if isinstance(found, Trace) else Trace()
