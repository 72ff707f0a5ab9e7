"""Requests that no client library would send, byte by byte to a real server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from storyshelf.db.engine import Database
from tests.publishing.browsing import DEFAULT, serving
from tests.publishing.shelf import SMALL

LARGE = bytes(range(256)) * (1 << 16)  # 16 MiB: more than every buffer on the way
HOST = b"shop.content.localhost"


@dataclass(frozen=True, slots=True)
class Line:
    """A server's port, and what is said over a connection to it."""

    port: int

    async def ask(self, head: bytes) -> tuple[int, bytes]:
        """Send a request's lines and return the status and everything that came."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head.replace(b"\n", b"\r\n"))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return int(answer.split(b" ", 2)[1]), answer

    async def get(self, target: bytes, *lines: bytes) -> tuple[int, bytes]:
        host = b"" if any(each.lower().startswith(b"host:") for each in lines) else b"Host: " + HOST
        all_lines = [each for each in (host, *lines, b"Connection: close") if each]
        return await self.ask(b"\n".join([b"GET " + target + b" HTTP/1.1", *all_lines, b"", b""]))


@pytest.fixture
async def line(db: Database, tmp_path: Path) -> AsyncIterator[Line]:
    async with serving(db, tmp_path / "blobs", DEFAULT) as served:
        project = await served.shelf.project("shop", public_storybook=True)
        await served.shelf.publish(project, {"large.bin": LARGE})
        port = urlsplit(served.app).port
        assert port is not None
        yield Line(port)


async def test_a_large_file_arrives_whole(line: Line) -> None:
    status, answer = await line.get(b"/builds/1/large.bin")
    assert (status, answer.endswith(b"\r\n\r\n" + LARGE)) == (200, True)


async def test_who_breaks_off_does_not_disturb_the_next(line: Line) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", line.port)
    writer.write(b"GET /builds/1/large.bin HTTP/1.1\r\nHost: " + HOST + b"\r\n\r\n")
    await writer.drain()
    writer.transport.abort()
    assert (await line.get(b"/builds/1/"))[0] == 200


async def test_paths_that_walk_lead_nowhere(line: Line) -> None:
    walks = (
        b"/builds/1/../../../../etc/passwd",
        b"/../etc/passwd",
        b"/builds/1/..\\..\\etc\\passwd",
        b"/builds/1/%2e%2e/%2e%2e/api/v1/limits",
        b"/builds/1/..%00/",
        b"/builds/1/.%00./index.html",
        b"/builds/1/index.html%00.png",
        b"/builds/1/index.html/",
        b"/builds/1/index.html;a=b",
        b"//shop.content.localhost/builds/1/",
        b"/builds/1/" + b"a/" * 3_000,
    )
    assert {(await line.get(walk))[0] for walk in walks} == {404}


async def test_a_whole_address_in_the_request_does_not_choose_the_host(line: Line) -> None:
    other = b"http://evil.test/builds/1/"
    assert (await line.get(other, b"Host: 127.0.0.1"))[0] == 404
    assert (await line.get(b"http://shop.content.localhost/", b"Host: evil.test"))[0] == 421


@pytest.mark.parametrize(
    "hosts",
    [
        (b"Host: shop.content.localhost", b"Host: 127.0.0.1"),
        (b"Host: 127.0.0.1", b"Host: shop.content.localhost"),
        (b"Host: evil.test", b"X-Forwarded-Host: shop.content.localhost"),
        (b"Host: shop.content.localhost@evil.test",),
        (b"Host: shop.content.localhost\x0b",),
        (b"Host: ",),
    ],
    ids=str,
)
async def test_no_host_but_the_one_named_once_is_answered(
    line: Line, hosts: tuple[bytes, ...]
) -> None:
    status, answer = await line.get(b"/builds/1/", *hosts)
    assert status in {400, 421}
    assert SMALL["index.html"] not in answer


async def test_without_a_host_there_is_no_answer(line: Line) -> None:
    assert (await line.ask(b"GET /builds/1/ HTTP/1.0\n\n"))[0] == 421


async def test_a_header_of_a_forwarder_changes_nothing(line: Line) -> None:
    status, answer = await line.get(b"/builds/1", b"X-Forwarded-Proto: https", b"Forwarded: host=a")
    assert (status, b"location: /builds/1/\r\n" in answer) == (302, True)
