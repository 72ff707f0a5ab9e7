"""Hosts of their own: network namespaces joined to this one by a cable each, or what stands in."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bench.chaos.proxy import Proxy, a_proxy

NOWHERE = "02:00:00:00:00:99"  # a card that nobody has: what is sent to it is not heard
PREFIX = "chaos"


class Means(StrEnum):
    """What the hosts are made of."""

    NAMESPACES = "namespaces"
    PROXIES = "proxies"  # where this process may not make networks


@dataclass(frozen=True, slots=True)
class RemoteHost:
    """A host: the database's url as seen from there, and the way to cut it off and back."""

    url: str
    network: str  # the name of its namespace, if it has one
    means: Means
    cut: Callable[[], Awaitable[None]]
    join: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Cable:
    """Two ends and two addresses; `number` is its own on this machine."""

    number: int

    @property
    def name(self) -> str:
        """Return the namespace's name; it says whose it is."""
        return f"{PREFIX}-{os.getpid()}-{self.number}"

    @property
    def near(self) -> str:
        """Return the card on this side."""
        return f"cz{os.getpid() % 100_000}n{self.number}"

    @property
    def near_address(self) -> str:
        """Return the address on this side."""
        return f"10.213.{os.getpid() % 250}.{4 * self.number + 1}"

    @property
    def far_address(self) -> str:
        """Return the address on the other side."""
        return f"10.213.{os.getpid() % 250}.{4 * self.number + 2}"

    async def lay(self) -> None:
        """Make the namespace and join it to this one."""
        far = ("-n", self.name)
        await ip("netns", "add", self.name)
        await ip(
            "link", "add", self.near, "type", "veth", "peer", "name", "far", "netns", self.name
        )
        await ip("addr", "add", f"{self.near_address}/30", "dev", self.near)
        await ip("link", "set", self.near, "up")
        await ip(*far, "addr", "add", f"{self.far_address}/30", "dev", "far")
        await ip(*far, "link", "set", "far", "up")
        await ip(*far, "link", "set", "lo", "up")

    async def cut(self) -> None:
        """Have both sides talk to a card that nobody has: silence, as when a switch dies."""
        for command in self._neighbours("replace", "lladdr", NOWHERE, "nud", "permanent"):
            await ip(*command)

    async def join(self) -> None:
        """Undo it."""
        for command in self._neighbours("del"):
            await ip(*command)

    async def remove(self) -> None:
        """Remove the namespace, and with it the cable."""
        await ip("netns", "del", self.name)

    def _neighbours(self, verb: str, *more: str) -> tuple[tuple[str, ...], ...]:
        return (
            ("neigh", verb, self.far_address, "dev", self.near, *more),
            ("-n", self.name, "neigh", verb, self.near_address, "dev", "far", *more),
        )


class NoNetworkError(RuntimeError):
    """`ip` refused."""


async def ip(*words: str) -> str:
    """Run `ip`; raises NoNetworkError with what it said."""
    process = await asyncio.create_subprocess_exec(
        "ip", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise NoNetworkError(f"ip {' '.join(words)}: {said.decode().strip()}")
    return said.decode()


async def can_make_networks() -> bool:
    """Say whether namespaces can be made and joined here, by doing so."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    await remove_leftovers()
    probe = Cable(9)
    try:
        await probe.lay()
    except NoNetworkError:
        return False
    finally:
        if probe.name in await ip("netns", "list"):
            await probe.remove()
    return True


async def remove_leftovers() -> None:
    """Remove the namespaces of runs that were killed."""
    for line in (await ip("netns", "list")).splitlines():
        name = line.split()[0]
        if name.startswith(f"{PREFIX}-") and not _lives(int(name.split("-")[1])):
            await ip("netns", "del", name)


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@asynccontextmanager
async def remote_hosts(url: str, number: int) -> AsyncIterator[tuple[RemoteHost, ...]]:
    """Make the hosts, and remove them at the end of the block."""
    make = _in_namespace if await can_make_networks() else _behind_proxy
    async with AsyncExitStack() as ends:
        yield tuple([await make(ends, url, each) for each in range(1, number + 1)])


async def _in_namespace(ends: AsyncExitStack, url: str, number: int) -> RemoteHost:
    cable = Cable(number)
    ends.push_async_callback(_gone, cable)
    await cable.lay()
    _, near = await ends.enter_async_context(a_proxy(url, cable.near_address))
    return RemoteHost(near, cable.name, Means.NAMESPACES, cable.cut, cable.join)


async def _behind_proxy(ends: AsyncExitStack, url: str, _number: int) -> RemoteHost:
    proxy, near = await ends.enter_async_context(a_proxy(url))
    cut, join = _switch(proxy)
    return RemoteHost(near, "", Means.PROXIES, cut, join)


def _switch(
    proxy: Proxy,
) -> tuple[Callable[[], Awaitable[None]], Callable[[], Awaitable[None]]]:
    async def cut() -> None:
        proxy.stall()

    async def join() -> None:
        proxy.flow()

    return cut, join


async def _gone(cable: Cable) -> None:
    if cable.name in await ip("netns", "list"):
        await cable.remove()
