"""Passes bytes on between a browser and a host, both ways, until one ends or a limit is reached."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

CHUNK_BYTES = 65_536
MAX_DOWN_BYTES = 64 << 20
MAX_UP_BYTES = 1 << 20  # requests are small: what is larger is something else
LIFE_S = 60.0  # a browser makes a new one for what it asks later


@dataclass(slots=True)
class End:
    """One side of a tunnel."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass(slots=True)
class Passed:
    """How much went each way, in bytes."""

    up: int = 0
    down: int = 0


async def pass_on(browser: End, host: End) -> Passed:
    """Return once the tunnel is over; who gave it out closes both ends."""
    passed = Passed()

    async def up() -> None:
        while passed.up < MAX_UP_BYTES and (chunk := await browser.reader.read(CHUNK_BYTES)):
            passed.up += len(chunk)
            host.writer.write(chunk)
            await host.writer.drain()

    async def down() -> None:
        while passed.down < MAX_DOWN_BYTES and (chunk := await host.reader.read(CHUNK_BYTES)):
            passed.down += len(chunk)
            browser.writer.write(chunk)
            await browser.writer.drain()

    directions = {asyncio.ensure_future(up()), asyncio.ensure_future(down())}
    try:
        await asyncio.wait(directions, timeout=LIFE_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for direction in directions:
            direction.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait(directions)
        for direction in directions:
            if not direction.cancelled():
                direction.exception()  # a connection that broke has ended
    return passed
