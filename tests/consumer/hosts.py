"""Hosts of the web on a loopback port, and an outlet that takes every name to be there."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address

from consumer.outlet.outlet import Outlets
from storyshelf.clock import SystemClock
from storyshelf.deliveries.addresses import Address
from storyshelf.deliveries.outbound import Outbound
from storyshelf.ids import ProjectId
from storyshelf.projects.allowed_hosts import AllowedHost, parse_allowed_host

HANDSHAKE = b"\x16"  # the first byte of TLS, which these hosts do not speak


@dataclass(frozen=True, slots=True)
class Said:
    """What a host answers of a path."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Hosts:
    """Answers for all names; `asked` are the first lines with the Host, `heads` the whole heads."""

    said: Mapping[str, Said]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first = await reader.readexactly(1)
            if first == HANDSHAKE:
                self.asked.append("encrypted")
                writer.close()
                return
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        method, path, _ = head.split("\r\n")[0].split(" ")
        host = head.lower().partition("\r\nhost: ")[2].partition("\r\n")[0]
        self.heads.append(head)
        self.asked.append(f"{method} {host.partition(':')[0]}{path}")
        with suppress(ConnectionError):  # it was enough for who asked
            writer.write(_written(self.said.get(path, Said(b"", 404)), method))
            await writer.drain()
        writer.close()


def _written(said: Said, method: str) -> bytes:
    headers = {"content-length": str(len(said.body)), "connection": "close", **said.headers}
    lines = [f"HTTP/1.1 {said.status} -", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + (said.body if method == "GET" else b"")


@asynccontextmanager
async def hosts(said: Mapping[str, Said]) -> AsyncIterator[Hosts]:
    """Listen until the block ends."""
    found = Hosts(said)
    server = await asyncio.start_server(found.answer, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        await server.wait_closed()


def outlets(
    allowed: Sequence[str], address: str = "127.0.0.1", *, allows_private: bool = True
) -> Outlets:
    """Return outlets of projects that allow these hosts, all of which are at that address."""

    async def allowed_of(_: ProjectId) -> Sequence[AllowedHost]:
        return [parse_allowed_host(each) for each in allowed]

    async def look_up(_host: str, _port: int) -> Sequence[Address]:
        return [ip_address(address)]

    ask = Outbound(allows_private=allows_private, timeout_s=5.0, look_up=look_up, allows_plain=True)
    return Outlets(allowed_of, ask, SystemClock())
