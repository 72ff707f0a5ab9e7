"""Frames between a consumer and its child: bounded, parsed, and never a pickle.

A frame is two lengths (u32, big endian), a JSON header and raw bytes. The lengths are checked
before anything is read for them, so that a lying peer costs its own life and no memory. The words
themselves are in `consumer.messages`.
"""

import asyncio
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import accumulate, pairwise
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from consumer.messages import Alive, FromChild, StageReached, ToChild
from storyshelf.errors import StoryshelfError

MAX_HEADER_TO_CHILD = 16 << 20  # a manifest of 20,000 paths, several times over
MAX_HEADER_FROM_CHILD = 32 << 20  # the parameters of 20,000 stories, at 1.6 kB each
MAX_BODY_TO_CHILD = 256 << 20  # two pictures to compare
MAX_BODY_FROM_CHILD = 176 << 20  # one picture, its trace, and frames of one that moves
MAX_SIGN = 16 << 10  # a sign of life holds a story's name at most; see `_refuse_padding`
LENGTHS = struct.Struct(">II")

In = TypeVar("In", bound=ToChild | FromChild)
Out = TypeVar("Out", bound=ToChild | FromChild)


class ChannelViolationError(StoryshelfError):
    """The other side said something outside the protocol; it must not be believed again."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the channel was violated: {what}",
            next_step="The child is replaced and its story counted; a page may have taken it over.",
        )


class ChannelClosedError(StoryshelfError):
    """The other side is gone."""

    def __init__(self) -> None:
        super().__init__("the other end of the channel is closed")


class ChannelDeadlineError(StoryshelfError):
    """A frame did not pass in time; the stream may be cut inside it and is of no more use."""

    def __init__(self, doing: str, deadline_s: float) -> None:
        super().__init__(f"{doing} a frame took longer than {deadline_s:g} s")


@dataclass(frozen=True, slots=True)
class _Header(Generic[In]):
    message: In
    attachments: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(max_length=4)]


@dataclass(frozen=True, slots=True)
class Direction(Generic[In]):
    """One way of the stream: what may be said on it, and how much."""

    adapter: TypeAdapter[_Header[In]]
    max_header: int
    max_body: int

    def encode(self, message: In) -> list[bytes]:
        """Return the frame in pieces; what is over the limits is refused here already."""
        names = _attached(message)
        bodies: list[bytes] = [getattr(message, name) for name in names]
        _require_bounds(message, dict(zip(names, bodies, strict=True)))
        while len(bodies) > 1 and not bodies[-1]:
            bodies.pop()  # what is not sent is empty
        header = self.adapter.dump_json(
            _Header(message, tuple(map(len, bodies))), exclude={"message": set(names)}
        )
        self.check(len(header), body := sum(map(len, bodies)))
        return [LENGTHS.pack(len(header), body), header, *bodies]

    def check(self, header: int, body: int) -> None:
        """Raise ChannelViolationError for a frame too large to be one of ours."""
        if header > self.max_header or body > self.max_body:
            raise ChannelViolationError(f"a frame of {header} + {body} bytes")

    def decode(self, header: bytes, body: bytes) -> In:
        """Return the message, or raise ChannelViolationError: there is no third way."""
        try:
            parsed = self.adapter.validate_json(header, strict=True, extra="forbid")
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ChannelViolationError(f"{place}: {first['msg']}"[:300]) from None
        _refuse_padding(parsed.message, len(header))
        return _with_bodies(parsed.message, parsed.attachments, body)


TO_CHILD: Direction[ToChild] = Direction(
    TypeAdapter(_Header[Annotated[ToChild, Field(discriminator="kind")]]),
    MAX_HEADER_TO_CHILD,
    MAX_BODY_TO_CHILD,
)
FROM_CHILD: Direction[FromChild] = Direction(
    TypeAdapter(_Header[Annotated[FromChild, Field(discriminator="kind")]]),
    MAX_HEADER_FROM_CHILD,
    MAX_BODY_FROM_CHILD,
)


class Channel(Generic[In, Out]):
    """One end of the stream. One task reads; any may write, and frames never mix."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        incoming: Direction[In],
        outgoing: Direction[Out],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._incoming = incoming
        self._outgoing = outgoing

    async def read(self, deadline_s: float | None) -> In:
        """Return the next message; None waits as long as the other side lives."""
        with _ended_stream("reading", deadline_s):
            async with asyncio.timeout(deadline_s):
                header, body = LENGTHS.unpack(await self._reader.readexactly(LENGTHS.size))
                self._incoming.check(header, body)
                return self._incoming.decode(
                    await self._reader.readexactly(header), await self._reader.readexactly(body)
                )

    async def write(self, message: Out, deadline_s: float | None) -> None:
        """Send one message; returns when the stream has taken it, not when it was read."""
        frame = self._outgoing.encode(message)
        with _ended_stream("writing", deadline_s):
            async with asyncio.timeout(deadline_s):
                self._writer.writelines(frame)
                await self._writer.drain()

    async def close(self) -> None:
        """Close this end; the other side reads the end of the stream."""
        self._writer.close()
        with _ended_stream("closing", None), _closed_is_fine():
            await self._writer.wait_closed()


async def parent_end(end: socket.socket) -> Channel[FromChild, ToChild]:
    """Take one socket of a pair as the parent's end."""
    reader, writer = await asyncio.open_connection(sock=end)
    return Channel(reader, writer, FROM_CHILD, TO_CHILD)


async def child_end(end: socket.socket) -> Channel[ToChild, FromChild]:
    """Take one socket of a pair as the child's end."""
    reader, writer = await asyncio.open_connection(sock=end)
    return Channel(reader, writer, TO_CHILD, FROM_CHILD)


@contextmanager
def _ended_stream(doing: str, deadline_s: float | None) -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise ChannelDeadlineError(doing, deadline_s or 0.0) from None
    except (asyncio.IncompleteReadError, ConnectionError, BrokenPipeError):
        raise ChannelClosedError from None


@contextmanager
def _closed_is_fine() -> Iterator[None]:
    try:
        yield
    except ConnectionError:
        return


def _refuse_padding(message: ToChild | FromChild, header: int) -> None:
    """Refuse spaces around what may be said often: 30 MB of them hold our loop for a third of 1 s.

    Whatever else is said is bounded by what was asked.
    """
    if isinstance(message, Alive | StageReached) and header > MAX_SIGN:
        raise ChannelViolationError(f"a sign of life of {header} bytes")


def _attached(message: ToChild | FromChild) -> list[str]:
    return [field.name for field in fields(message) if field.default == b""]


def _with_bodies(message: In, lengths: Sequence[int], body: bytes) -> In:
    names = _attached(message)
    if any(getattr(message, name) for name in names):
        raise ChannelViolationError("bytes inside the header")
    if len(lengths) > len(names) or sum(lengths) != len(body):
        raise ChannelViolationError("attachments that do not add up to the body")
    cuts = pairwise(accumulate(lengths, initial=0))
    parts = {name: body[start:end] for name, (start, end) in zip(names, cuts, strict=False)}
    _require_bounds(message, parts)
    return replace(message, **parts)  # type: ignore[arg-type]  # bytes fields, by `_attached`


def _require_bounds(message: ToChild | FromChild, parts: Mapping[str, bytes]) -> None:
    """Hold attachments to their fields' own bounds: of the header they were no part."""
    bounds = _bounds_of(type(message))  # type: ignore[arg-type]  # mypy: unions of classes hash too
    for name, part in parts.items():
        try:
            bounds[name].validate_python(part)
        except ValidationError:
            raise ChannelViolationError(f"{name} of {len(part):,} bytes") from None


@cache
def _bounds_of(kind: type[Any]) -> Mapping[str, TypeAdapter[bytes]]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        each.name: TypeAdapter(hints[each.name]) for each in fields(kind) if each.default == b""
    }
