"""The way out for allowed hosts: what is asked, refused and kept, and where it ends."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from consumer.messages import Outlet
from consumer.outlet.asked import NotAnsweredError, parse_head
from consumer.outlet.outlet import MAX_HEAD_BYTES, Outlets
from consumer.outlet.tunnel import CHUNK_BYTES, MAX_DOWN_BYTES
from storyshelf.ids import BuildId, ProjectId
from storyshelf.projects.allowed_hosts import parse_allowed_host
from tests.consumer.hosts import Hosts, Said, hosts, outlets

ADAS, FIRST, SECOND = ProjectId(1), BuildId(1), BuildId(2)
ALLOWED = [parse_allowed_host(each) for each in ("a.test", "*.b.test:8080")]
PICTURE = {"/a.png": Said(b"picture", headers={"content-type": "image/png"})}


def head(line: str, *headers: str) -> bytes:
    return "\r\n".join([line, *headers, "", ""]).encode("latin-1")


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("GET http://a.test/x?y=1 HTTP/1.1", "http://a.test:80/x?y=1"),
        ("HEAD http://A.test HTTP/1.1", "http://a.test:80/"),
        ("GET http://c.b.test:8080/x HTTP/1.1", "http://c.b.test:8080/x"),
        ("CONNECT a.test:443 HTTP/1.1", "https://a.test:443"),
        ("CONNECT c.b.test:8080 HTTP/1.1", "https://c.b.test:8080"),
    ],
)
def test_what_is_allowed_is_read(line: str, url: str) -> None:
    assert parse_head(head(line), ALLOWED).url == url


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("", 400),
        ("GET / HTTP/1.1", 400),
        ("GET https://a.test/ HTTP/1.1", 400),
        ("GET ftp://a.test/ HTTP/1.1", 400),
        ("GET http://a.test@evil.test/ HTTP/1.1", 400),
        ("GET http://evil.test@a.test/ HTTP/1.1", 400),
        ("GET http://[::1]/ HTTP/1.1", 400),
        ("GET http://[::1/ HTTP/1.1", 400),
        ("GET http://a.test:99999/ HTTP/1.1", 400),
        ("GET http://a.test/\x00 HTTP/1.1", 400),
        ("GET http://a.test/ x HTTP/1.1", 400),
        ("CONNECT a.test HTTP/1.1", 400),
        ("CONNECT a.test:0 HTTP/1.1", 400),
        ("CONNECT a.test:443/x HTTP/1.1", 400),
        ("CONNECT [::1]:443 HTTP/1.1", 400),
        ("POST http://a.test/ HTTP/1.1", 405),
        ("OPTIONS http://a.test/ HTTP/1.1", 405),
        ("TRACE http://a.test/ HTTP/1.1", 405),
        ("GET http://evil.test/ HTTP/1.1", 403),
        ("GET http://a.test:81/ HTTP/1.1", 403),
        ("GET http://b.test:8080/ HTTP/1.1", 403),
        ("GET http://127.0.0.1/ HTTP/1.1", 403),
        ("GET http://outlet.localhost/ HTTP/1.1", 403),
        ("CONNECT a.test:80 HTTP/1.1", 403),
        ("CONNECT a.test:22 HTTP/1.1", 403),
        ("CONNECT evil.test:443 HTTP/1.1", 403),
    ],
)
def test_everything_else_is_refused(line: str, status: int) -> None:
    with pytest.raises(NotAnsweredError) as refused:
        parse_head(head(line), ALLOWED)
    assert refused.value.status == status


@pytest.mark.parametrize("header", ["Content-Length: 5", "Transfer-Encoding: chunked"])
def test_nothing_is_sent_along(header: str) -> None:
    with pytest.raises(NotAnsweredError, match="Nothing is sent"):
        parse_head(head("GET http://a.test/ HTTP/1.1", header), ALLOWED)


def test_what_says_who_asks_is_not_sent_on() -> None:
    told = (
        "Cookie: a=1",
        "Referer: x",
        "Authorization: b",
        "Range: bytes=0-1",
        "Accept: image/png",
    )
    asked = parse_head(head("GET http://a.test/ HTTP/1.1", *told, "X-Secret: 1"), ALLOWED)
    assert asked.headers == {"accept": "image/png"}


@asynccontextmanager
async def an_outlet(opened: Outlets, build: BuildId = FIRST) -> AsyncIterator[Outlet]:
    async with opened.opened(ADAS, build) as outlet:
        assert outlet is not None
        yield outlet


@asynccontextmanager
async def reached(said: Mapping[str, Said]) -> AsyncIterator[tuple[Hosts, Outlet]]:
    """Hosts, and an outlet that allows `a.test` among them."""
    async with hosts(said) as found, an_outlet(outlets([f"a.test:{found.port}"])) as outlet:
        yield found, outlet


async def said_by(outlet: Outlet, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", outlet.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


def get(found: Hosts, path: str, *headers: str, host: str = "a.test") -> bytes:
    return head(f"GET http://{host}:{found.port}{path} HTTP/1.1", *headers)


async def test_a_project_that_allows_nothing_has_no_outlet() -> None:
    async with outlets([]).opened(ADAS, FIRST) as outlet:
        assert outlet is None


async def test_a_file_comes_back_without_what_would_tell_of_the_host() -> None:
    headers = {
        "content-type": "image/png",
        "set-cookie": "a=1",
        "strict-transport-security": "max-age=1",
        "link": "<http://evil.test>; rel=preconnect",
        "date": "now",
        "access-control-allow-origin": "http://b1.localhost:5",
    }
    async with reached({"/a.png": Said(b"picture", headers=headers)}) as (found, outlet):
        request = get(found, "/a.png", "Origin: http://b1.localhost:5")
        answer = await said_by(outlet, request)
    told, _, body = answer.partition(b"\r\n\r\n")
    assert (told.split(b"\r\n")[0], body) == (b"HTTP/1.1 200 -", b"picture")
    assert {line.partition(b":")[0] for line in told.split(b"\r\n")[1:]} == {
        b"access-control-allow-origin", b"cache-control", b"connection", b"content-length",
        b"content-type",
    }  # fmt: skip
    assert b"access-control-allow-origin: *" in told


async def test_a_build_sees_one_answer_of_each_address() -> None:
    async with hosts(PICTURE) as found:
        opened = outlets([f"a.test:{found.port}"])
        answers: list[bytes] = []
        for _ in range(2):  # two loans of one build
            async with an_outlet(opened) as outlet:
                asking = (said_by(outlet, get(found, "/a.png")) for _ in range(5))
                answers += await asyncio.gather(*asking)
        async with an_outlet(opened, SECOND) as outlet:
            answers.append(await said_by(outlet, get(found, "/a.png")))
    assert all(answer.endswith(b"\r\n\r\npicture") for answer in answers)
    assert found.asked == ["GET a.test/a.png"] * 2


async def test_a_failure_is_not_kept() -> None:
    async with reached({"/a.png": Said(b"busy", 503)}) as (found, outlet):
        first, second = [await said_by(outlet, get(found, "/a.png")) for _ in range(2)]
    assert first == second
    assert b"no-store" in first
    assert len(found.asked) == 2


async def test_a_host_cannot_ask_for_a_proxys_password() -> None:
    asks = Said(status=407, headers={"proxy-authenticate": 'Basic realm="yours"'})
    async with reached({"/a.png": asks}) as (found, outlet):
        answer = await said_by(outlet, get(found, "/a.png"))
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"proxy-authenticate" not in answer.lower()


async def test_a_redirect_is_the_browsers_to_follow() -> None:
    moved = Said(status=302, headers={"location": "http://evil.test/x"})
    async with reached({"/go": moved}) as (found, outlet):
        answer = await said_by(outlet, get(found, "/go"))
        followed = await said_by(outlet, get(found, "/x", host="evil.test"))
    assert b"location: http://evil.test/x" in answer
    assert followed.startswith(b"HTTP/1.1 403 ")
    assert found.asked == ["GET a.test/go"]


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.8", "169.254.169.254", "::ffff:10.0.0.1"])
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_an_allowed_name_of_a_private_address_is_refused(address: str, method: str) -> None:
    async with hosts(PICTURE) as found:
        opened = outlets([f"a.test:{found.port}"], address, allows_private=False)
        target = {"GET": f"http://a.test:{found.port}/a.png", "CONNECT": f"a.test:{found.port}"}
        async with an_outlet(opened) as outlet:
            answer = await said_by(outlet, head(f"{method} {target[method]} HTTP/1.1"))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"no public address" in answer
    assert found.asked == []


async def test_a_tunnel_passes_bytes_both_ways_and_ends_with_its_host() -> None:
    async with reached(PICTURE) as (found, outlet):
        inside = head("GET /a.png HTTP/1.1", "Host: inside")
        answer = await said_by(outlet, head(f"CONNECT a.test:{found.port} HTTP/1.1") + inside)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 -")
    assert answer.endswith(b"picture")


async def test_a_tunnel_takes_only_so_much() -> None:
    async with reached({"/big": Said(b"x" * (MAX_DOWN_BYTES + 5_000_000))}) as (found, outlet):
        inside = head("GET /big HTTP/1.1", "Host: inside")
        answer = await said_by(outlet, head(f"CONNECT a.test:{found.port} HTTP/1.1") + inside)
    assert MAX_DOWN_BYTES <= len(answer) < MAX_DOWN_BYTES + 2 * CHUNK_BYTES


async def test_a_host_that_is_not_there_is_told() -> None:
    async with an_outlet(outlets(["a.test:1"])) as outlet:
        for line in ("GET http://a.test:1/ HTTP/1.1", "CONNECT a.test:1 HTTP/1.1"):
            assert (await said_by(outlet, head(line))).startswith(b"HTTP/1.1 502 ")


@pytest.mark.parametrize(
    "request_", [b"x" * (MAX_HEAD_BYTES + 10), b"\r\n\r\n", b"\x16\x03\x01\r\n\r\n"]
)
async def test_what_is_no_request_harms_nobody(request_: bytes) -> None:
    async with reached(PICTURE) as (found, outlet):
        assert b"HTTP/1.1 2" not in await said_by(outlet, request_)
        assert (await said_by(outlet, get(found, "/a.png"))).endswith(b"picture")


async def test_the_end_of_a_loan_ends_what_is_open() -> None:
    async with hosts({}) as found:
        async with an_outlet(outlets([f"a.test:{found.port}"])) as outlet:
            reader, writer = await asyncio.open_connection("127.0.0.1", outlet.port)
            writer.write(head(f"CONNECT a.test:{found.port} HTTP/1.1"))
            await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", outlet.port)
