"""An app that answers on a loopback port for as long as a test needs it, in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def listening(app: ASGIApp, port: int = 0, *, cuts_off: bool = False) -> Iterator[str]:
    """Serve and yield the address; one that cuts off gives no answer to who waits at the end."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_level="error", ws="none", lifespan="off"
    )
    started = threading.Event()

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            started.set()

    listener = Announcing(config)
    listener.force_exit = cuts_off
    thread = threading.Thread(target=listener.run)
    thread.start()
    try:
        assert started.wait(10), "the server did not start"
        yield f"http://127.0.0.1:{listener.servers[0].sockets[0].getsockname()[1]}"
    finally:
        listener.should_exit = True
        thread.join()
