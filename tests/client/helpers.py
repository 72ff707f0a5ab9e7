"""Folders, clocks and sessions for the client's tests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from storyshelf.client.api import Api, BuildRequest, connect
from storyshelf.client.commit import Commit
from storyshelf.client.hashing import HashedFolder, hash_folder
from storyshelf.client.retrying import Backoff
from storyshelf.client.saved import Server
from storyshelf.client.upload import idempotency_key
from tests.client.server import TOKEN, FakeServer

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
COMMIT = Commit("c" * 40, "main", "Make it blue", "Ada <ada@example.org>")
INDEX = {
    "v": 5,
    "entries": {
        "button--primary": {
            "type": "story",
            "id": "button--primary",
            "title": "Button",
            "name": "Primary",
            "importPath": "./Button.stories.tsx",
            "tags": ["dev"],
        }
    },
}


class HurriedClock:
    """A clock on which every wait is over at once, and counted."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def wait_for(self, event: asyncio.Event, seconds: float) -> bool:
        await self.sleep(seconds)
        return event.is_set()


class Wire(httpx.AsyncBaseTransport):
    """The network to a fake server; `is_cut` says which requests never arrive."""

    def __init__(self, server: FakeServer, is_cut: Callable[[httpx.Request], bool]) -> None:
        self._inner = httpx.ASGITransport(server.app())
        self._is_cut = is_cut

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._is_cut(request):
            raise httpx.ConnectError("the cable is out", request=request)
        return await self._inner.handle_async_request(request)


@asynccontextmanager
async def session(
    server: FakeServer,
    *,
    clock: HurriedClock | None = None,
    token: str = TOKEN,
    is_cut: Callable[[httpx.Request], bool] = lambda request: False,
) -> AsyncIterator[Api]:
    backoff = Backoff(draw=lambda: 0.0)
    where = Server("http://shelf.test", token)
    async with connect(where, clock or HurriedClock(), backoff, Wire(server, is_cut)) as api:
        yield api


def a_storybook(folder: Path, **files: str) -> Path:
    """Write a small built Storybook; `files` are more of it, `__` in a name is a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "iframe.html").write_text("<body></body>")
    (folder / "index.json").write_text(json.dumps(INDEX))
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def a_request(folder: HashedFolder, nonce: str = "") -> BuildRequest:
    key = idempotency_key(COMMIT, folder.manifest, nonce)
    return BuildRequest(key, COMMIT, folder.manifest)


def hashed(folder: Path) -> HashedFolder:
    return hash_folder(folder)
