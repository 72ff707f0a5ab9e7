"""What a bench and one side say to each other: a JSON document a line; standard library only."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

Deed = Callable[..., Awaitable[Mapping[str, Any]]]
WARM_UP = 20  # enqueues that are not counted
LOOK_EVERY_S = 0.002  # at a queue whose last job has started


class Started:
    """When the handlers started, by the clock that all processes of a machine share."""

    def __init__(self, jobs: int) -> None:
        self.at: list[float] = []
        self._jobs = jobs
        self._all = asyncio.Event()

    def note(self) -> None:
        """Say that a handler starts now."""
        self.at.append(time.monotonic())
        if len(self.at) >= self._jobs:
            self._all.set()

    async def until_settled(self, is_any_left: Callable[[], Awaitable[bool]]) -> float:
        """Return the seconds from the first start until the database has no job left to settle.

        The database is not asked before the last job has started, so that nobody drains slower for
        being watched.
        """
        await self._all.wait()
        while await is_any_left():
            await pause(LOOK_EVERY_S)
        return time.monotonic() - self.at[0]


async def pause(seconds: float) -> None:
    """Sleep; the peers' processes have no clock of ours."""
    await asyncio.sleep(seconds)  # noqa: TID251  # see above


async def spaced(send: Callable[[], Awaitable[object]], times: int, every_s: float) -> list[Any]:
    """Send that often; return when each was begun and when it returned."""
    moments = []
    for _ in range(times):
        begun = time.monotonic()
        await send()
        moments.append([begun, time.monotonic()])
        await pause(every_s)
    return moments


async def timed(send: Callable[[], Awaitable[object]], times: int) -> float:
    """Return the seconds that so many calls take, one after the other."""
    begun = time.monotonic()
    for _ in range(times):
        await send()
    return time.monotonic() - begun


async def answer(deeds: Mapping[str, Deed]) -> None:
    """Do what each line asks for and answer with a line, until there is none."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        said = await deeds[asked.pop("do")](**asked)
        print(json.dumps(said), flush=True)


def deeds_of(side: object, names: Sequence[str]) -> Mapping[str, Deed]:
    """Return the methods of those names."""
    return {name: getattr(side, name) for name in names}


DEEDS = (
    "prepare",
    "clear",
    "enqueue",
    "enqueue_one_by_one",
    "drain",
    "work",
    "rest",
    "send",
    "claim",
)
