"""A webhook: a signed JSON for each state of a build, in the shape that receivers know.

Signed is `<timestamp>.<body>`, by HMAC-SHA256 with the connection's key; the header says the
version of that rule, `t=<seconds>,v1=<hex>`. The id names a state of a build: one that comes twice,
since its answer was lost, is the same one. `sequence` rises with each state.
"""

import hmac
import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from storyshelf.deliveries.answers import require_ok
from storyshelf.deliveries.connection import Hook
from storyshelf.deliveries.outbound import Ask, Request
from storyshelf.deliveries.wish import HookWish
from storyshelf.ids import DeliveryId

VERSION = 2
RECEIVER = "Check the address, and what its receiver says of the delivery."


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one delivery from another."""

    id: DeliveryId
    version: int

    @property
    def text(self) -> str:
        """Return the id that the receiver sees."""
        return f"{self.id}-{self.version}"


@dataclass(frozen=True, slots=True)
class Webhook:
    """One receiver, and the key that it knows us by."""

    hook: Hook
    key: str
    ask: Ask
    now: datetime

    async def say_build(self, wish: HookWish, root: str, stamp: Stamp) -> None:
        """Tell how a build stands; raises TryLaterError, RefusedError."""
        links = {"webUrl": f"{root}{wish.path}", "storybookUrl": None}
        if wish.storybook_path is not None:
            links["storybookUrl"] = f"{root}{wish.storybook_path}"
        project = {**wish.project, "webUrl": f"{root}/projects/{wish.project['slug']}"}
        body = {
            "version": VERSION,
            "event": "build",
            "id": stamp.text,
            "sequence": stamp.version,
            "build": {**wish.build, **links, "project": project},
        }
        await self._send("build", stamp.text, body)

    async def look(self) -> str:
        """Send an event without a meaning; raises TryLaterError, RefusedError."""
        body = {"version": VERSION, "event": "ping", "id": "ping"}
        await self._send("ping", "ping", body)
        return "The receiver took the event `ping`."

    async def _send(self, event: str, delivery: str, body: dict[str, object]) -> None:
        content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        timestamp = int(self.now.timestamp())
        headers = {
            "content-type": "application/json",
            "x-storyshelf-event": event,
            "x-storyshelf-delivery": delivery,
            "x-storyshelf-signature": f"t={timestamp},v1={signed(self.key, timestamp, content)}",
        }
        answer = await self.ask(Request("POST", self.hook.url, headers, content))
        require_ok(answer, self.now, RECEIVER)


def signed(key: str, timestamp: int, content: bytes) -> str:
    """Return the signature of a body that is sent at that time."""
    return hmac.digest(key.encode(), f"{timestamp}.".encode() + content, sha256).hex()
