"""The one way out: a request to an address that was looked up, judged and then held to.

The name is resolved once and the connection goes to that very address, so that a name server that
answers differently the second time gains nothing. A redirect is an answer like any other. Each
request has a connection of its own: a kept one is known by its address, and might belong to another
name's certificate.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

import httpx

from storyshelf.client.version import own_version
from storyshelf.deliveries.addresses import Address, is_never, is_open
from storyshelf.deliveries.answers import Answer, RefusedError, TryLaterError

MAX_ANSWER_BYTES = 16 << 20  # a hundred comments of the largest size, and then some
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the other end."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


class Ask(Protocol):
    """Sends a request; raises TryLaterError, RefusedError."""

    async def __call__(self, request: Request, /) -> Answer:
        """Return the answer, whatever its status."""
        ...


async def look_up(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a name; raises TryLaterError."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TryLaterError(f"{host} was not found: {error}") from error
    return [ip_address(str(address[0]).partition("%")[0]) for *_, address in found]


LookUp = Callable[[str, int], Awaitable[Sequence[Address]]]


class Outbound:
    """Asks on the network; `allows_private` is for forges and receivers inside one's own.

    `allows_plain` lets the public internet be asked without encryption, where nothing is secret.
    """

    def __init__(
        self,
        *,
        allows_private: bool,
        timeout_s: float,
        look_up: LookUp = look_up,
        allows_plain: bool = False,
    ) -> None:
        self._allows_private = allows_private
        self._allows_plain = allows_plain
        self._timeout_s = timeout_s
        self._look_up = look_up
        self._ssl = httpx.create_ssl_context()

    async def __call__(self, request: Request, /) -> Answer:
        """See Ask."""
        url = urlsplit(request.url)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(request, url, await self._found(url))
        except TimeoutError:
            words = f"{url.netloc} did not answer within {self._timeout_s:g} s"
            raise TryLaterError(words) from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise TryLaterError(f"{url.netloc} could not be asked: {reason}") from error

    async def address_of(self, url: str) -> Address:
        """Return the address that the url may be asked at; raises TryLaterError, RefusedError."""
        parts = urlsplit(url)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._found(parts)
        except TimeoutError:
            words = f"{parts.netloc} was not found within {self._timeout_s:g} s"
            raise TryLaterError(words) from None

    async def _found(self, url: SplitResult) -> Address:
        assert url.hostname is not None, "addresses are checked when they are entered"
        port = url.port or PORTS[url.scheme]
        return self._judged(url, await self._look_up(url.hostname, port))

    def _judged(self, url: SplitResult, found: Sequence[Address]) -> Address:
        """Return the address to use; one that is not open is refused without being asked."""
        for address in found:
            if is_open(address) and (self._allows_plain or url.scheme == "https"):
                return address
            if self._allows_private and not is_open(address) and not is_never(address):
                return address
        if any(is_open(address) for address in found):
            raise RefusedError(
                f"{url.netloc} would be asked without encryption",
                next_step="Write the address with https.",
            )
        raise RefusedError(
            f"{url.netloc} is at {found[0]}, which is no public address",
            next_step="An administrator of the server can allow private ones: start server and"
            " consumers with STORYSHELF_WEBHOOKS_TO_PRIVATE=true.",
        )

    async def _exchange(self, request: Request, url: SplitResult, address: Address) -> Answer:
        named = f"[{address}]" if ":" in str(address) else str(address)
        pinned = httpx.URL(request.url).copy_with(host=named)
        headers = {
            "host": url.netloc,
            "user-agent": f"storyshelf/{own_version()}",
            "accept-encoding": "identity",  # what is packed could grow beyond any bound
            **request.headers,
        }
        transport = httpx.AsyncHTTPTransport(verify=self._ssl, retries=0)
        async with httpx.AsyncClient(transport=transport, timeout=self._timeout_s) as client:
            asked = client.build_request(
                request.method,
                pinned,
                headers=headers,
                content=request.content,
                extensions={"sni_hostname": url.hostname or ""},
            )
            answer = await client.send(asked, stream=True)
            try:
                return Answer(answer.status_code, dict(answer.headers), await _bounded(answer))
            finally:
                await answer.aclose()


async def _bounded(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_raw():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise TryLaterError(f"The answer is longer than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)
