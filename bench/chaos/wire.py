"""As much of the Postgres protocol as it takes to see that a settle has been committed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

SSL_REQUEST = 80877103
SETTLE_MARK = b"INTO jobs_done"  # of the statements that end attempts
TOKENS = b"uuid[]"  # by which they name them, as expiry and cancel do not
LENGTH_BYTES = 4
IDLE = b"I"


class Said(StrEnum):
    """What an answer amounts to."""

    SOMETHING = "something"
    SETTLED = "settled"  # a transaction with a settle in it is over


@dataclass(slots=True)
class Frames:
    """Cuts a stream into messages: a letter, and what follows."""

    buffer: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return the messages that are whole by now."""
        self.buffer += piece
        while len(self.buffer) > LENGTH_BYTES:
            end = 1 + int.from_bytes(self.buffer[1:5], "big")
            if len(self.buffer) < end:
                return
            yield bytes(self.buffer[:1]), bytes(self.buffer[5:end])
            del self.buffer[:end]


@dataclass(slots=True)
class Talk:
    """Both directions of one connection."""

    startup: bytes = b""
    _awaits_ssl_answer: bool = False
    _from_client: Frames = field(default_factory=Frames)
    _from_server: Frames = field(default_factory=Frames)
    _settles: set[bytes] = field(default_factory=set)  # names of prepared settles
    _is_settling: bool = False

    def asked(self, piece: bytes) -> None:
        """Take in what the client sent."""
        if not self.startup:
            if int.from_bytes(piece[4:8], "big") == SSL_REQUEST:
                self._awaits_ssl_answer = True
                return
            self.startup = piece  # drivers send it whole, and wait for the answer
            return
        for letter, body in self._from_client.add(piece):
            self._understand(letter, body)

    def answered(self, piece: bytes) -> Said:
        """Take in what the server sent, and say what it amounts to."""
        if self._awaits_ssl_answer:
            self._awaits_ssl_answer = False
            return Said.SOMETHING
        said = Said.SOMETHING
        for letter, body in self._from_server.add(piece):
            if letter == b"Z" and body == IDLE and self._is_settling:
                self._is_settling = False
                said = Said.SETTLED
        return said

    def _understand(self, letter: bytes, body: bytes) -> None:
        if letter == b"P":
            name, _, rest = body.partition(b"\0")
            if SETTLE_MARK in rest and TOKENS in rest:
                self._settles.add(name)
        elif letter == b"B":
            name = body.partition(b"\0")[2].partition(b"\0")[0]
            self._is_settling = self._is_settling or name in self._settles
