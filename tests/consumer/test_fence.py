"""What a hostile story reaches: its own origin, and nothing else on this machine or beyond."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from consumer.bundle_server import bundle_server
from consumer.capture.browser import DETERMINISM, BrowserChoice, LaunchedBrowser
from consumer.messages import WarningCode
from tests.consumer.conftest import Opener, opener_on
from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# Each tries to reach VICTIM (host:port) by another road, and none may wait for an answer for ever.
ROADS = {
    "fetch": "await fetch('http://VICTIM/fetch')",
    "no_cors": "await fetch('http://VICTIM/no-cors', { mode: 'no-cors' })",
    "localhost_name": "await fetch('http://localhost:PORT/name', { mode: 'no-cors' })",
    "foreign_localhost": "await fetch('http://b2.localhost:PORT/other', { mode: 'no-cors' })",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', 'http://VICTIM/xhr'); x.send()",
    "image": "new Image().src = 'http://VICTIM/image'",
    "style": "root.style.backgroundImage = 'url(http://VICTIM/style)'",
    "font": "await new FontFace('f', 'url(http://VICTIM/font)').load()",
    "beacon": "navigator.sendBeacon('http://VICTIM/beacon', 'secret')",
    "form": (
        "const f = document.createElement('form'); f.target = '_blank';"
        " f.action = 'http://VICTIM/form'; document.body.append(f); f.submit()"
    ),
    "frame": (
        "const f = document.createElement('iframe');"
        " f.src = 'http://VICTIM/frame'; document.body.append(f)"
    ),
    "script": "await import('http://VICTIM/script.js')",
    "prefetch": (
        "const l = document.createElement('link'); l.rel = 'prefetch';"
        " l.href = 'http://VICTIM/prefetch'; document.head.append(l)"
    ),
    "events": "new EventSource('http://VICTIM/events')",
    "socket": "new WebSocket('ws://VICTIM/socket')",
    "worker": (
        "new Worker(URL.createObjectURL(new Blob("
        "[\"fetch('http://VICTIM/worker', { mode: 'no-cors' })\"])))"
    ),
    "popup": "window.open('http://VICTIM/popup')",
    "transport": "await new WebTransport('https://VICTIM/transport').ready",
    "stun": (
        "const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:VICTIM' }] });"
        " c.createDataChannel('d'); await c.setLocalDescription(await c.createOffer())"
    ),
}


@dataclass(slots=True)
class Victim:
    """A stranger's service on this machine: it counts who comes, by TCP or UDP."""

    port: int = 0
    hits: list[str] = field(default_factory=list)

    async def on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.hits.append((await reader.read(100)).decode(errors="replace"))
        writer.close()


class Packets(asyncio.DatagramProtocol):
    def __init__(self, victim: Victim) -> None:
        self.victim = victim

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.victim.hits.append(f"udp {data[:8]!r}")


@pytest_asyncio.fixture(loop_scope="module")
async def victim() -> AsyncIterator[Victim]:
    victim = Victim()
    server = await asyncio.start_server(victim.on_connection, "127.0.0.1", 0)
    victim.port = server.sockets[0].getsockname()[1]
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: Packets(victim), local_addr=("127.0.0.1", victim.port)
    )
    yield victim
    transport.close()
    server.close()
    await server.wait_closed()


def hostile(road: str, port: int) -> LittleStory:
    """Return a story that takes the road, and then waits for long enough for it to be seen."""
    attempt = ROADS[road].replace("VICTIM", f"127.0.0.1:{port}").replace("PORT", str(port))
    return LittleStory(
        f"root.innerHTML = `{SQUARE}`; const own = await fetch('index.json');"
        f"const go = async () => {{ {attempt}; }};"
        "const late = new Promise((done) => setTimeout(done, 400));"
        "await Promise.race([go().catch(() => {}), late]); await late;"
        "if (!own.ok) throw new Error('the own origin did not answer');"
    )


@pytest.mark.parametrize("road", ROADS)
async def test_a_story_does_not_reach_another_port_by(
    opened: Opener, victim: Victim, road: str
) -> None:
    storybook = LittleStorybook(
        {"hostile--story": hostile(road, victim.port)}, {"index.json": b"{}"}
    )
    stage = await opened(storybook)
    picture = await stage.shoot("hostile--story")
    assert victim.hits == []
    assert picture.error is None


async def test_the_victim_would_have_seen_a_visitor(victim: Victim) -> None:
    """The fence test cannot pass for want of a victim."""
    _, writer = await asyncio.open_connection("127.0.0.1", victim.port)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    async with asyncio.timeout(5):
        while not victim.hits:
            await asyncio.wait({asyncio.ensure_future(asyncio.to_thread(int))})
    assert victim.hits == ["GET / HTTP/1.1\r\n\r\n"]


async def test_what_was_held_back_is_told_in_the_warnings(opened: Opener, victim: Victim) -> None:
    story = hostile("image", victim.port)
    stage = await opened(LittleStorybook({"hostile--story": story}, {"index.json": b"{}"}))
    picture = await stage.shoot("hostile--story")
    blocked = [w.text for w in picture.warnings if w.code is WarningCode.BLOCKED_REQUEST]
    assert blocked == [f"http://127.0.0.1:{victim.port}/image"]


@pytest.mark.parametrize("road", ["stun", "popup"])
async def test_without_the_flags_these_roads_are_open(
    browser_choice: BrowserChoice, victim: Victim, tmp_path: Path, road: str
) -> None:
    """The roads are real ones, which the policy of the page alone does not close."""
    storybook = LittleStorybook(
        {"hostile--story": hostile(road, victim.port)}, {"index.json": b"{}"}
    )
    async with bundle_server() as server:
        browser = LaunchedBrowser(browser_choice, DETERMINISM)
        async with opener_on(server, browser, tmp_path) as opener:
            await (await opener(storybook)).shoot("hostile--story")
        await browser.stop()
    assert victim.hits != []
