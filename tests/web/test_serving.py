"""A server on a real socket: whom it takes a request to be from."""

import asyncio
import signal
import socket

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from storyshelf.web.serving import serve_on

SAYS = {"x-forwarded-for": "198.51.100.7, 203.0.113.9"}


async def tells_who_asks(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        client = Request(scope).client
        await PlainTextResponse(client.host if client else "")(scope, receive, send)
        return
    for step in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{step}.complete"})


async def who_asked(*proxies: str) -> str:
    """Return whom a request is from that names another address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        served = asyncio.create_task(serve_on(listener, tells_who_asks, 1.0, proxies))
        async with httpx.AsyncClient(timeout=20) as client:
            answer = await client.get(url, headers=SAYS)
        signal.raise_signal(signal.SIGTERM)
        assert await served
    return answer.text


@pytest.mark.parametrize("proxies", [(), ("192.0.2.1",)])
async def test_a_request_is_from_whoever_connects(
    proxies: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a new address each time gets past the throttle of wrong passwords."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    assert await who_asked(*proxies) == "127.0.0.1"


async def test_a_proxy_that_is_named_is_believed_and_nobody_before_it() -> None:
    assert await who_asked("127.0.0.0/8") == "203.0.113.9"
