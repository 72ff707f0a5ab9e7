"""How long the operations page takes to answer, of several servers in turns."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from bench.scale_house import House, all_work, beat
from tests.app import asking, parts_on
from tests.people import sign_in

PAGE = "/operations"


async def pages_ms(
    houses: Sequence[House], folder: Path, times: int
) -> Mapping[str, Sequence[float]]:
    """Ask both servers for the operations page in turns; return how long each answer took."""
    took: dict[str, list[float]] = {house.name: [] for house in houses}
    async with AsyncExitStack() as stack:
        clients = {}
        for house in houses:
            await all_work(house.db)
            client = await stack.enter_async_context(asking(parts_on(house.db, folder)))
            await sign_in(house.db, client)
            (await client.get(PAGE)).raise_for_status()  # templates are read
            clients[house.name] = client
        for _ in range(times):
            for house in houses:
                await beat(house.db)
                took[house.name].append(await page_ms(clients[house.name]))
    return took


async def page_ms(client: httpx.AsyncClient) -> float:
    """Ask for the page once."""
    begun = time.monotonic()
    (await client.get(PAGE)).raise_for_status()
    return 1000 * (time.monotonic() - begun)
