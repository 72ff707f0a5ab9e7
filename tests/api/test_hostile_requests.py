"""Requests that nobody honest sends: each gets an answer, cheaply, and nothing else of us."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError
from starlette.types import Message, Receive, Scope, Send

from storyshelf.api.requests import Decide, OpenBuild
from storyshelf.db.engine import Database
from storyshelf.server import create_app
from storyshelf.web.limits import (
    MAX_FORM_BYTES,
    MAX_STRANGERS_BYTES,
    BodyLimit,
    BodySilentError,
)
from tests.api.client import API, Robo, problem
from tests.app import parts_on
from tests.people import sign_in

UNGUARDED = {f"{API}/limits"}


def cursor(json: str) -> str:
    return urlsafe_b64encode(json.encode()).decode().rstrip("=")


CURSORS = {
    "deep": cursor("[" * 2_900),
    "not JSON": cursor("?"),
    "not base64": "ä€",
    "an object": cursor("{}"),
    "another type": cursor("[true]"),
    "no number": cursor("[1e999]"),
    "too long a number": cursor(f"[{'9' * 2_000}]"),
    "too large a number": cursor(f"[{2**70}]"),
    "NUL": cursor(r'["\u0000"]'),
    "half a character": cursor(r'["\ud800"]'),
}


@pytest.mark.parametrize("after", CURSORS.values(), ids=CURSORS)
@pytest.mark.parametrize("path", ["/", "/projects/shop", f"{API}/projects/shop/builds"])
async def test_a_cursor_that_we_gave_nobody_is_malformed(
    db: Database, robo: Robo, path: str, after: str
) -> None:
    await sign_in(db, robo.http)
    answer = await robo.get(path, params={"after": after})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


@dataclass
class Body:
    """A body that tells whether anybody asked for it."""

    was_read: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        self.was_read = True
        yield b"{}"


def guarded(db: Database, blobs: Path) -> list[tuple[str, str]]:
    """Return method and path of every route of the API that a token is needed for."""
    paths = create_app(parts_on(db, blobs)).openapi()["paths"]
    named = {"slug": "shop", "number": "1", "sha256": "ab" * 32, "snapshot_id": "1", "shard": "1"}
    return [
        (method.upper(), path.format(**named))
        for path, methods in paths.items()
        for method in methods
        if path.startswith(API) and path not in UNGUARDED
    ]


async def test_a_strangers_body_is_not_even_read(
    db: Database, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    """Parsing costs memory and time, so it comes after the question who is calling."""
    routes = guarded(db, tmp_path / "blobs")
    assert ("POST", f"{API}/projects/shop/builds") in routes
    for method, path in routes:
        body = Body()
        answer = await http.request(method, path, content=body.chunks())
        problem(answer, HTTPStatus.UNAUTHORIZED, "unknown-token")
        assert not body.was_read, path


@pytest.mark.parametrize("item", [{}, None, {"path": 1}])
def test_of_a_list_of_wrong_items_only_the_first_is_told(item: object) -> None:
    opening = {"idempotency_key": "key-0001", "commit": "c", "branch": "b"}
    bodies = (
        (OpenBuild, opening | {"files": [item] * 1_000}),
        (Decide, {"decision": "accepted", "snapshots": [item] * 1_000}),
    )
    for model, body in bodies:
        with pytest.raises(ValidationError) as caught:
            model.model_validate(body)
        assert {error["loc"][1] for error in caught.value.errors()} == {0}


async def read_all(_scope: Scope, receive: Receive, _send: Send) -> None:
    """An app that reads to the end of the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unsent(_message: Message) -> None:
    raise AssertionError("nothing is answered here")


def asked(limit: BodyLimit, receive: Receive) -> Awaitable[None]:
    return limit({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, unsent)


async def test_a_body_that_stands_still_is_given_up() -> None:
    first: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Message:
        if not first:
            await asyncio.Event().wait()
        return first.pop()

    with pytest.raises(BodySilentError):
        await asked(BodyLimit(read_all, lambda _method, _path: 100, silent_s=0.01), receive)


async def test_who_waits_for_the_end_of_a_connection_is_not_hurried() -> None:
    messages: list[Message] = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": b"{}", "more_body": False},
    ]

    async def receive() -> Message:
        if len(messages) == 1:
            await asyncio.to_thread(int)  # any turn of the loop is longer than nothing
        return messages.pop()

    await asked(BodyLimit(read_all, lambda _method, _path: 100, silent_s=0), receive)
    assert messages == []


WORST = b"%"  # it takes the longest of all characters to be read as a form
TYPE = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("path", "most"), [("/sign-in", MAX_STRANGERS_BYTES), ("/new-project", MAX_FORM_BYTES)]
)
async def test_a_form_has_no_more_bytes_than_are_quickly_read(
    db: Database, robo: Robo, path: str, most: int
) -> None:
    await sign_in(db, robo.http)
    for size_bytes, status in ((most, 422), (most + 1, 413)):
        content = WORST * size_bytes
        answer = await robo.http.post(path, content=content, headers={"content-type": TYPE})
        assert answer.status_code == status


NO_ADDRESSES = ["http://[", "http://[::1", "null", "", "://", "http://a]b"]


@pytest.mark.parametrize("text", NO_ADDRESSES)
@pytest.mark.parametrize("header", ["origin", "hx-current-url"])
async def test_a_header_that_is_no_address_is_answered(
    http: httpx.AsyncClient, header: str, text: str
) -> None:
    for method, path in (("GET", "/account"), ("POST", "/sign-out"), ("GET", "/static/x/y.css")):
        headers = {header: text, "hx-request": "true"}
        answer = await http.request(method, path, headers=headers)
        assert answer.status_code in {401, 403, 404}
