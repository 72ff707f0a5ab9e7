"""The same upload over real sockets that close in the middle of a file."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from storyshelf.client.api import connect
from storyshelf.client.errors import ServerUnreachableError
from storyshelf.client.retrying import Backoff
from storyshelf.client.saved import Server
from storyshelf.client.upload import SentBytes, Uploaded, upload
from tests.client.helpers import HurriedClock, a_request, a_storybook, hashed
from tests.client.server import SLUG, TOKEN, FakeServer, running

FILE_BYTES = 50_000
FILES = {f"chunk{number}.js": f"{number:05}" * (FILE_BYTES // 5) for number in range(40)}


class Cable:
    """Forwards connections to a server until so many bytes went up, then is cut for good."""

    def __init__(self, port: int, bytes_left: int) -> None:
        self._port = port
        self._bytes_left = bytes_left

    async def forward(self, down: asyncio.StreamReader, up: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(down, to_server, counted=True))
                group.create_task(self._pump(from_server, up, counted=False))
        except* (ConnectionError, EOFError):
            up.transport.abort()
            to_server.transport.abort()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counted: bool
    ) -> None:
        while piece := await source.read(16_384):
            self._bytes_left -= len(piece) if counted else 0
            if self._bytes_left <= 0:
                raise ConnectionAbortedError
            sink.write(piece)
            await sink.drain()
        sink.close()


@asynccontextmanager
async def cable(url: str, bytes_left: int) -> AsyncIterator[str]:
    far = Cable(int(url.rpartition(":")[2]), bytes_left)
    async with await asyncio.start_server(far.forward, "127.0.0.1", 0) as near:
        yield f"http://127.0.0.1:{near.sockets[0].getsockname()[1]}"


async def send(url: str, folder: Path) -> Uploaded:
    found = hashed(folder)

    def unwatched(sent: SentBytes) -> None:
        pass

    backoff = Backoff(lambda: 0.0, tries=2)
    async with connect(Server(url, TOKEN), HurriedClock(), backoff) as api:
        return await upload(api, SLUG, found, a_request(found), unwatched)


async def test_a_connection_cut_at_half_resumes_and_sends_only_what_is_missing(
    tmp_path: Path,
) -> None:
    server, folder = FakeServer(), a_storybook(tmp_path, **FILES)
    with running(server) as url:
        async with cable(url, bytes_left=FILE_BYTES * len(FILES) // 2) as cut_url:
            with pytest.raises(ServerUnreachableError):
                await send(cut_url, folder)
    arrived = set(server.puts)  # the server has stopped: nothing of the first try arrives late
    assert 0 < len(arrived) < len(FILES)
    assert not server.build(1).is_sealed
    with running(server) as url:
        uploaded = await send(url, folder)
    assert uploaded.sent.files == len(FILES) + 2 - len(arrived)
    assert len(server.puts) == len(set(server.puts)) == len(FILES) + 2
    assert server.build(1).is_sealed
