"""A CI machine with a project's token, speaking the API's contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from storyshelf.storage.blobs import key_of
from tests.builds.hand import index_of

API = "/api/v1"
FILES: Mapping[str, bytes] = {
    "iframe.html": b"<html></html>",
    "index.json": index_of(["a--one", "a--two"]),
    "again.html": b"<html></html>",
}
PROBLEM = "application/problem+json"


def manifest_of(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    return [
        {"path": path, "sha256": key_of(content), "size": len(content)}
        for path, content in files.items()
    ]


@dataclass
class Robo:
    """Holds a token of one project; `other` would be a stranger's."""

    http: httpx.AsyncClient
    token: str
    slug: str = "shop"

    @property
    def builds(self) -> str:
        return f"{API}/projects/{self.slug}/builds"

    async def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}", **how.pop("headers", {})}
        return await self.http.request(method, path, headers=headers, **how)

    async def get(self, path: str, **how: Any) -> httpx.Response:
        return await self.ask("GET", path, **how)

    async def post(self, path: str, **how: Any) -> httpx.Response:
        return await self.ask("POST", path, **how)

    async def open(
        self, files: Mapping[str, bytes] | Sequence[Mapping[str, Any]] = FILES, **fields: Any
    ) -> httpx.Response:
        listed = manifest_of(files) if isinstance(files, Mapping) else files
        body = {"idempotency_key": "key-0001", "commit": "c0ffee", "branch": "main"}
        return await self.post(self.builds, json={**body, "files": listed, **fields})

    async def put(self, content: bytes, number: int = 1, **how: Any) -> httpx.Response:
        key = how.pop("key", key_of(content))
        return await self.ask("PUT", f"{self.builds}/{number}/blobs/{key}", content=content, **how)

    async def send(self, files: Mapping[str, bytes] = FILES, number: int = 1) -> None:
        for content in files.values():
            assert (await self.put(content, number)).is_success

    async def seal(self, number: int = 1) -> httpx.Response:
        return await self.post(f"{self.builds}/{number}/seal")


def problem(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """Return a problem after checking that it has the shape that every problem has."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    said: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "what", "where", "next_step"} <= set(said)
    assert (said["type"], said["status"]) == (f"about:blank#{kind}", status)
    assert said["what"]
    return said
