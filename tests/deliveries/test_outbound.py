"""The way out: which addresses are asked, and that the one that was judged is the one asked."""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request as Asked
from starlette.responses import RedirectResponse, Response

from storyshelf.deliveries.addresses import Address, is_never, is_open
from storyshelf.deliveries.answers import RefusedError, TryLaterError
from storyshelf.deliveries.outbound import MAX_ANSWER_BYTES, Outbound, Request
from tests.deliveries.forge import FakeForge

PRIVATE = ["127.0.0.1", "10.0.0.8", "192.168.1.1", "172.16.0.1", "100.64.0.1", "::1", "fd12::1"]
NEVER = [
    "169.254.169.254",
    "169.254.1.1",
    "fe80::1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "::",
]
OPEN = ["140.82.112.5", "2606:50c0:8000::153", "64:ff9b::140.82.112.5"]
HIDDEN = ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::"]
OTHER_USES = [
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::10.0.0.1",
    "fec0::1",
    "4000::1",
    "5f00::1",
]


def looking_up(*found: str) -> object:
    async def look_up(_host: str, _port: int) -> Sequence[Address]:
        return [ip_address(each) for each in found]

    return look_up


def outbound(*found: str, allows_private: bool = False) -> Outbound:
    return Outbound(allows_private=allows_private, timeout_s=2.0, look_up=looking_up(*found))  # type: ignore[arg-type]  # a narrower one


@pytest.mark.parametrize("address", OPEN)
def test_the_public_internet_is_open(address: str) -> None:
    assert is_open(ip_address(address))
    assert not is_never(ip_address(address))


@pytest.mark.parametrize("address", [*PRIVATE, *HIDDEN, *OTHER_USES])
def test_private_addresses_are_not_open(address: str) -> None:
    assert not is_open(ip_address(address))


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_never_asked(address: str) -> None:
    assert is_never(ip_address(address))


@pytest.mark.parametrize("address", [*PRIVATE, *NEVER, *HIDDEN, *OTHER_USES])
async def test_nothing_private_is_asked_unless_allowed(address: str) -> None:
    with pytest.raises(RefusedError, match="no public address"):
        await outbound(address)(Request("GET", "https://hook.test/"))


@pytest.mark.parametrize("address", NEVER)
async def test_what_is_never_asked_is_not_even_when_private_ones_are(address: str) -> None:
    with pytest.raises(RefusedError, match="no public address"):
        await outbound(address, allows_private=True)(Request("GET", "http://hook.test/"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "2130706433", "0x7f.1"])
async def test_loopback_is_refused_by_any_name(host: str) -> None:
    ask = Outbound(allows_private=False, timeout_s=2.0)
    with pytest.raises((RefusedError, TryLaterError)):
        await ask(Request("GET", f"https://{host}/"))


async def test_a_public_address_is_not_asked_in_the_clear() -> None:
    with pytest.raises(RefusedError, match="without encryption"):
        await outbound("140.82.112.5")(Request("GET", "http://forge.test/"))


async def test_the_address_that_was_judged_is_the_one_that_is_asked(
    forge: FakeForge, forge_url: str
) -> None:
    """The name has no address at all: who looked it up again would not get anywhere."""
    port = urlsplit(forge_url).port
    ask = outbound("127.0.0.1", allows_private=True)
    answer = await ask(Request("POST", f"http://no-such-name.invalid:{port}/hook", content=b"x"))
    assert answer.status == 204
    ((headers, body),) = forge.events
    assert (headers["host"], body) == (f"no-such-name.invalid:{port}", b"x")


async def test_a_redirect_is_not_followed(forge: FakeForge, forge_url: str) -> None:
    forge.troubles.append(lambda _: RedirectResponse("http://169.254.169.254/latest"))
    ask = Outbound(allows_private=True, timeout_s=2.0)
    answer = await ask(Request("GET", f"{forge_url}/repos/shelf/shop"))
    assert answer.status == 307
    assert len(forge.requests) == 1


async def test_a_name_without_an_address_is_tried_later() -> None:
    ask = Outbound(allows_private=True, timeout_s=5.0)
    with pytest.raises(TryLaterError, match=r"no-such-name\.invalid"):
        await ask(Request("GET", "https://no-such-name.invalid/"))


async def test_an_endless_answer_is_cut(forge: FakeForge, forge_url: str) -> None:
    def endless(_request: Asked) -> Response:
        return Response(b"x" * (MAX_ANSWER_BYTES + 1))

    forge.troubles.append(endless)
    ask = Outbound(allows_private=True, timeout_s=10.0)
    with pytest.raises(TryLaterError, match="longer than"):
        await ask(Request("GET", f"{forge_url}/repos/shelf/shop"))


async def test_who_does_not_answer_is_not_waited_for(forge: FakeForge, forge_url: str) -> None:
    forge.slow_s = 1.0
    ask = Outbound(allows_private=True, timeout_s=0.2)
    with pytest.raises(TryLaterError, match=r"within 0\.2 s"):
        await ask(Request("GET", f"{forge_url}/repos/shelf/shop"))
