"""Listens on a loopback port for as long as a build's bundle is lent, and answers its browser."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus

import structlog

from consumer.loopback import LOOPBACK
from consumer.messages import Outlet
from consumer.outlet.asked import Asked, NotAnsweredError, parse_head
from consumer.outlet.kept import KeptAnswers, KeptOfBuilds
from consumer.outlet.tunnel import End, pass_on
from storyshelf.clock import Clock
from storyshelf.deliveries.answers import Answer, RefusedError, TryLaterError
from storyshelf.deliveries.outbound import Outbound, Request
from storyshelf.ids import BuildId, ProjectId
from storyshelf.projects.allowed_hosts import AllowedHost

MAX_HEAD_BYTES = 16_384
HEAD_WITHIN_S = 10.0  # a browser on a starved machine
ANSWER_WITHIN_S = 15.0  # the longest that a page waits for its images and fonts, and then some
MAX_OPEN = 64  # a browser opens 32 to a proxy
MAX_FILES = 8  # on their way at once: each may take 16 MB of the parent's memory
MAX_LOGGED = 300  # of a loan: a page that asks for ever must not fill the disk
# What comes back of an answer's headers. No cookies, nothing about other connections or the time.
TAKEN_BACK = (
    "access-control-expose-headers",
    "content-encoding",
    "content-language",
    "content-type",
    "cross-origin-resource-policy",
    "location",
    "timing-allow-origin",
    "x-content-type-options",
)
# A 407 would have the browser ask for our password, and 1xx stand for no answer.
PASSED_ON = frozenset(range(200, 600)) - {HTTPStatus.PROXY_AUTHENTICATION_REQUIRED}
SHARED_WITH, WITH_ALL = "access-control-allow-origin", "*"
PLAIN_TEXT = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"

AllowedOf = Callable[[ProjectId], Awaitable[Sequence[AllowedHost]]]
OpensOutlet = Callable[[ProjectId, BuildId], AbstractAsyncContextManager[Outlet | None]]

log = structlog.get_logger()


@asynccontextmanager
async def no_outlet(_project_id: ProjectId, _build_id: BuildId) -> AsyncIterator[Outlet | None]:
    """Leave the build without a way out."""
    yield None


class Outlets:
    """Opens outlets, and keeps what was answered between them."""

    def __init__(self, allowed_of: AllowedOf, ask: Outbound, clock: Clock) -> None:
        self._allowed_of = allowed_of
        self._ask = ask
        self._clock = clock
        self._kept = KeptOfBuilds()

    @asynccontextmanager
    async def opened(
        self, project_id: ProjectId, build_id: BuildId
    ) -> AsyncIterator[Outlet | None]:
        """Answer a build what its project allows, until the block ends; None: that is nothing."""
        allowed = await self._allowed_of(project_id)
        if not allowed:
            yield None
            return
        kept = self._kept.of(build_id)
        answering = _Answering(build_id, tuple(allowed), self._ask, kept, self._clock)
        listener = socket.create_server((LOOPBACK, 0))
        server = await asyncio.start_server(answering.take, sock=listener, limit=MAX_HEAD_BYTES)
        try:
            port: int = listener.getsockname()[1]
            yield Outlet(port, tuple(each.written for each in allowed))
        finally:
            server.close()
            await answering.end()


@dataclass(slots=True)
class _Answering:
    """One outlet's connections."""

    build_id: BuildId
    allowed: tuple[AllowedHost, ...]
    ask: Outbound
    kept: KeptAnswers
    clock: Clock
    logged: int = 0
    open: set[asyncio.Task[None]] = field(default_factory=set)
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_FILES))

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin with a connection."""
        if len(self.open) >= MAX_OPEN:
            writer.close()
            return
        task = asyncio.ensure_future(self._serve(End(reader, writer)))
        self.open.add(task)
        task.add_done_callback(self.open.discard)

    async def end(self) -> None:
        """Break off what is still open."""
        tasks = set(self.open)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, browser: End) -> None:
        """Answer one request; another one takes another connection."""
        try:
            await self._answer(browser)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the browser has gone, or asks without an end: there is nobody to tell
        except Exception:  # what one request breaks is told, and the others are answered
            log.exception("outlet.failed", build=self.build_id)
        finally:
            await _closed(browser.writer)

    async def _answer(self, browser: End) -> None:
        async with asyncio.timeout(HEAD_WITHIN_S):
            head = await browser.reader.readuntil(b"\r\n\r\n")
        asked: Asked | None = None
        try:
            asked = parse_head(head, self.allowed)
            await (self._tunnel if asked.is_tunnel else self._file)(asked, browser)
        except NotAnsweredError as refused:
            where = ascii(head[:200]) if asked is None else asked.where
            self._tell("outlet.refused", where=where, reason=refused.text)
            await _write(browser, Answer(refused.status, PLAIN_TEXT, f"{refused}.\n".encode()))

    async def _file(self, asked: Asked, browser: End) -> None:
        async with self.places:
            await self._answer_file(asked, browser)

    async def _answer_file(self, asked: Asked, browser: End) -> None:
        since = self.clock.monotonic()
        key = (asked.method, asked.url, *(asked.headers.get(name) for name in _KEYED))
        try:
            answer, is_kept = await self.kept.answer(key, lambda: self._asked_for(asked))
        except (RefusedError, TryLaterError) as error:
            raise _unanswered(error) from error
        self._tell(
            "outlet.answered",
            where=asked.where,
            status=answer.status,
            size_bytes=len(answer.body),
            kept=is_kept,
            took_ms=round(1_000 * (self.clock.monotonic() - since)),
        )
        await _write(browser, answer, cacheable=self.kept.has(key))

    async def _asked_for(self, asked: Asked) -> Answer:
        answer = await self.ask(Request(asked.method, asked.url, asked.headers))
        if answer.status not in PASSED_ON:
            raise TryLaterError(f"{asked.host} answered with the status {answer.status}")
        taken = {name: answer.headers[name] for name in TAKEN_BACK if name in answer.headers}
        # The origin has the port of one child: what is shared with it is shared with the next.
        if answer.headers.get(SHARED_WITH) in {WITH_ALL, asked.headers.get("origin")}:
            taken[SHARED_WITH] = WITH_ALL
        return replace(answer, headers=taken)

    async def _tunnel(self, asked: Asked, browser: End) -> None:
        since = self.clock.monotonic()
        try:
            address = await self.ask.address_of(asked.url)
            async with asyncio.timeout(ANSWER_WITHIN_S):
                host = End(*await asyncio.open_connection(str(address), asked.port))
        except (RefusedError, TryLaterError) as error:
            raise _unanswered(error) from error
        except (OSError, TimeoutError) as error:
            raise NotAnsweredError(
                HTTPStatus.BAD_GATEWAY, "The host takes no connection"
            ) from error
        try:
            browser.writer.write(ESTABLISHED)
            passed = await pass_on(browser, host)
        finally:
            host.writer.transport.abort()  # what it still has to say is for nobody
        self._tell(
            "outlet.tunnelled",
            where=asked.where,
            up_bytes=passed.up,
            down_bytes=passed.down,
            took_ms=round(1_000 * (self.clock.monotonic() - since)),
        )

    def _tell(self, event: str, **facts: object) -> None:
        self.logged += 1
        if self.logged <= MAX_LOGGED:
            log.info(event, build=self.build_id, **facts)
        if self.logged == MAX_LOGGED:
            log.warning("outlet.told_enough", build=self.build_id, lines=MAX_LOGGED)


_KEYED = ("accept", "accept-language", "user-agent")


def _unanswered(error: RefusedError | TryLaterError) -> NotAnsweredError:
    if isinstance(error, RefusedError):
        return NotAnsweredError(HTTPStatus.FORBIDDEN, str(error))
    return NotAnsweredError(HTTPStatus.BAD_GATEWAY, str(error))


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close once what was written is taken; break it off if it is not."""
    try:
        writer.close()
        async with asyncio.timeout(ANSWER_WITHIN_S):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        pass
    finally:
        writer.transport.abort()


async def _write(browser: End, answer: Answer, *, cacheable: bool = False) -> None:
    lasts = "public, max-age=31536000, immutable" if cacheable else "no-store"
    headers = {
        **answer.headers,
        "cache-control": lasts,
        "content-length": str(len(answer.body)),
        "connection": "close",
    }
    lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {headers[name]}" for name in headers)]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    browser.writer.write(head + answer.body)
    async with asyncio.timeout(ANSWER_WITHIN_S):
        await browser.writer.drain()
