"""How the app hands a visitor over to a project's content host, which shares no cookie with it.

What is handed over is a note in the address, signed by the server's key: whose session, in which
project, where to, and until when.
"""

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from storyshelf.auth.secrets import Secrets
from storyshelf.ids import ProjectId, SessionId

HAND_OVER = "hand-over"
LIVES = timedelta(minutes=1)  # it is used by the redirect that carries it


@dataclass(frozen=True, slots=True)
class HandOver:
    """Leave to enter one project's content host, until `expires_at` (seconds since the epoch)."""

    project_id: ProjectId
    session_id: SessionId
    expires_at: int
    target: str  # a path of that host


def hand_over(
    secrets: Secrets, project_id: ProjectId, session_id: SessionId, target: str, now: datetime
) -> str:
    """Return the signed note for a visitor who may see the project."""
    expires_at = int((now + LIVES).timestamp())
    return signed_note(secrets, HAND_OVER, [project_id, session_id, expires_at, target])


def parse_hand_over(secrets: Secrets, note: str, now: datetime) -> HandOver | None:
    """Return what was handed over; None: not by us, or too long ago."""
    said = read_note(secrets, HAND_OVER, note)
    if said is None:
        return None
    handed = HandOver(*said)
    return handed if now.timestamp() < handed.expires_at else None


def signed_note(secrets: Secrets, purpose: str, said: Sequence[str | int]) -> str:
    """Return the values as a text that only the server can have written, and that URLs take."""
    message = json.dumps(said, separators=(",", ":")).encode()
    return f"{_to_text(message)}.{_to_text(secrets.sign(purpose, message))}"


def read_note(secrets: Secrets, purpose: str, note: str) -> list[Any] | None:
    """Return the values of a note that we signed for this purpose; None: we did not."""
    message, dot, signature = note.partition(".")
    try:
        content, proof = _to_bytes(message), _to_bytes(signature)
    except (binascii.Error, ValueError):
        return None
    if not dot or not secrets.is_signed(purpose, content, proof):
        return None
    said: list[Any] = json.loads(content)
    return said


def _to_text(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def _to_bytes(text: str) -> bytes:
    return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
