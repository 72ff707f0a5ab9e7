"""Serves an app on a socket that somebody else bound."""

import asyncio
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp


async def serve_on(
    listener: socket.socket, app: ASGIApp, stop_within_s: float, proxies: Sequence[str] = ()
) -> bool:
    """Serve on a socket that is bound already, until TERM or INT; return whether it ever served.

    Requests that run at the stop have that long to end, then they are cut off. Whom a request is
    from is the other end of its connection, and of one of the `proxies` what that says in
    X-Forwarded-For: whoever is believed there escapes the throttle by a new address each time.
    """
    config = uvicorn.Config(
        app,
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=max(1, round(stop_within_s)),
    )
    server = _Server(config)
    await server.serve(sockets=[listener])
    return server.started


class _Server(uvicorn.Server):
    """A server that ends by returning; uvicorn's own would raise the signal again and be killed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on either signal, for as long as it serves."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)
        for each in signals:
            loop.add_signal_handler(each, self._stop)
        yield
        for each in signals:
            loop.remove_signal_handler(each)

    def _stop(self) -> None:
        self.should_exit = True
