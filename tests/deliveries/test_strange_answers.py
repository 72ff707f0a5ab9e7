"""What the other end says is anybody's: no shape of it is more than an answer of no use."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from storyshelf.deliveries.answers import Answer
from storyshelf.deliveries.connection import Connection, ConnectionKind, Forge
from storyshelf.deliveries.outbound import Request
from storyshelf.deliveries.own_comments import ours
from storyshelf.deliveries.send import Line, look
from storyshelf.ids import ConnectionId, ProjectId

NOW = datetime(2030, 1, 1, tzinfo=UTC)
BODIES = [
    "",
    "[]",
    "1",
    "null",
    '{"permissions": [1], "full_name": 5, "path_with_namespace": {}}',
    '{"permissions": {"push": "yes", "project_access": 5, "group_access": {"access_level": "40"}}}',
    "[" * 100_000,
]
STRANGE: list[object] = [
    "a text",
    None,
    [1],
    {},
    {"body": "mark"},
    {"body": "mark", "id": "one"},
    {"body": ["mark"], "id": 3},
    {"body": "mark", "id": 4, "user": "ada"},
]


def line_that_hears(kind: ConnectionKind, body: str) -> Line:
    async def ask(_request: Request, /) -> Answer:
        return Answer(200, {}, body.encode())

    config = Forge("https://forge.test", "shelf/shop", marker="mark")
    connection = Connection(ConnectionId(1), ProjectId(1), kind, "shop", config, b"", None, None)
    return Line(connection, "a token", ask, NOW)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("kind", [ConnectionKind.GITHUB, ConnectionKind.GITLAB])
async def test_a_look_gets_nothing_out_of_them(kind: ConnectionKind, body: str) -> None:
    said = await look(line_that_hears(kind, body))
    assert said.startswith("shelf/shop is there")
    assert "may write there" not in said
    assert "may set statuses" not in said


async def test_a_look_shows_a_name_in_one_line() -> None:
    body = '{"full_name": "a\\nb\\u202e' + "x" * 10_000 + '"}'
    said = await look(line_that_hears(ConnectionKind.GITHUB, body))
    assert said.startswith("a b x")
    assert len(said) < 300


async def test_among_strange_comments_ours_is_found() -> None:
    async def listed() -> AsyncIterator[object]:
        for each in [*STRANGE, {"body": "mark of another", "id": 5, "user": {"id": 8}}]:
            yield each

    assert await ours(listed(), "mark", by="user") == [4]
