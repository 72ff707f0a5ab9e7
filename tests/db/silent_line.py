"""A network that can be cut: what is sent is dropped, and nobody is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy.engine.url import make_url


@dataclass
class Line:
    """A network between the client and the server; cut, it drops what is sent and says nothing."""

    host: str
    port: int
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    ends: list[asyncio.StreamWriter] = field(default_factory=list)

    async def carry(self, near_in: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        far_in, far_out = await asyncio.open_connection(self.host, self.port)
        self.ends += [near_out, far_out]
        async with asyncio.TaskGroup() as both:
            both.create_task(self._pass(near_in, far_out))
            both.create_task(self._pass(far_in, near_out))

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while piece := await source.read(65536):
            if self.whole.is_set():
                target.write(piece)
        target.close()


@asynccontextmanager
async def a_line_to(url: str) -> AsyncIterator[tuple[Line, str]]:
    far = make_url(url)
    line = Line(far.host or "127.0.0.1", far.port or 5432)
    line.whole.set()
    async with await asyncio.start_server(line.carry, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        near = far.set(host="127.0.0.1", port=port)
        yield line, near.render_as_string(hide_password=False)
        for end in line.ends:
            end.close()
