"""A bystander on loopback that counts who reaches it, over TCP and UDP on one port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

ANSWER = (
    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n"
    b"Connection: close\r\n\r\n"
)
STUN_COOKIE = bytes.fromhex("2112a442")  # bytes 4 to 8 of every STUN message
PORT_TRIES = 20  # a port free for TCP may be taken for UDP


@dataclass(slots=True)
class Victim:
    """`hits`: a request's path, `connection` for a silent one, `stun` or `datagram` over UDP."""

    port: int = 0
    hits: list[str] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note the first line and let the caller go on; a preconnect never sends one."""
        try:
            words = (await reader.readline()).split()
            self.hits.append(words[1].decode("latin-1") if len(words) > 1 else "connection")
            writer.write(ANSWER)
            await writer.drain()
        except ConnectionError:
            self.hits.append("connection")
        finally:
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._victim.hits.append("stun" if data[4:8] == STUN_COOKIE else "datagram")


@asynccontextmanager
async def victim() -> AsyncIterator[Victim]:
    """Listen on a free port of 127.0.0.1 until the block ends."""
    bystander = Victim()
    server, datagrams = await _listen(bystander)
    try:
        yield bystander
    finally:
        datagrams.close()
        server.close()
        await server.wait_closed()


async def _listen(bystander: Victim) -> tuple[asyncio.Server, asyncio.DatagramTransport]:
    loop = asyncio.get_running_loop()
    for _ in range(PORT_TRIES):
        server = await asyncio.start_server(bystander.answer, "127.0.0.1", 0)
        bystander.port = server.sockets[0].getsockname()[1]
        address = ("127.0.0.1", bystander.port)
        try:
            made = await loop.create_datagram_endpoint(
                lambda: _Datagrams(bystander), local_addr=address
            )
        except OSError:
            server.close()
            continue
        return server, made[0]
    message = f"no port was free for TCP and UDP alike in {PORT_TRIES} tries"
    raise RuntimeError(message)
