"""A database that goes silent, as behind a cut network, is noticed and found again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from sqlalchemy import text
from sqlalchemy.engine.url import make_url

from storyshelf.db.engine import Database

HARDLY_ANY_S = 0.2


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


async def one(db: Database) -> int:
    async with db.transaction() as tx:
        found = await tx.execute(text("SELECT 1"))
    return int(found.scalar_one())


async def test_a_database_that_goes_silent_is_given_up_and_found_again(database_url: str) -> None:
    async with a_line_to(database_url) as (line, url):
        db = Database(url, answer_within_s=HARDLY_ANY_S)
        assert await one(db) == 1
        line.whole.clear()
        with pytest.raises(TimeoutError):
            await one(db)
        line.whole.set()
        assert await one(db) == 1  # by a new connection: the silent one is not given out again
        await db.close()
