"""Asking a forge: JSON there and back, with the token, one address below the other."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storyshelf.deliveries.answers import Answer, RefusedError, require_ok
from storyshelf.deliveries.outbound import Ask, Request

A_PAGE = 100
MAX_PAGES = 20  # of a pull request's comments; ours is among the first


@dataclass(frozen=True, slots=True)
class RestApi:
    """One forge, asked with one token."""

    ask: Ask
    root: str
    headers: Mapping[str, str]
    now: datetime

    async def send(self, method: str, path: str, said: Mapping[str, Any] | None = None) -> Answer:
        """Return the answer of an address, whatever its status."""
        content = None if said is None else json.dumps(said).encode()
        typed = {} if said is None else {"content-type": "application/json"}
        headers = {**self.headers, **typed}
        return await self.ask(Request(method, f"{self.root}{path}", headers, content))

    async def done(self, method: str, path: str, said: Mapping[str, Any] | None = None) -> Any:
        """Return the document that came back; raises TryLaterError, RefusedError."""
        answer = await self.send(method, path, said)
        require_ok(answer, self.now)
        return answer.document()

    async def each(self, path: str) -> AsyncIterator[object]:
        """Yield the items of a list, page by page."""
        joined = "&" if "?" in path else "?"
        for page in range(1, MAX_PAGES + 1):
            found = await self.done("GET", f"{path}{joined}per_page={A_PAGE}&page={page}")
            if not isinstance(found, list):
                raise RefusedError("It did not answer with a list", next_step="Check the address.")
            for item in found:
                yield item
            if len(found) < A_PAGE:
                return
