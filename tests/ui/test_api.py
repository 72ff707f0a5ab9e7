"""`/api/v1/docs`: the API in words, from this server alone."""

import httpx
import pytest

from storyshelf.ui.view_models.api import kind_of
from tests.ui.visitor import Visitor

DOCS = "/api/v1/docs"


async def test_every_call_and_every_form_is_told(visitor: Visitor) -> None:
    page = await visitor.page(DOCS)
    described = (await visitor.client.get("/api/v1/openapi.json")).json()
    assert page.status == httpx.codes.OK
    for path in described["paths"]:
        assert path in page.text
    assert "OpenBuild" in page.text
    assert "idempotency_key" in page.text
    assert "at most 128 characters" in page.text


async def test_nothing_is_loaded_from_elsewhere(visitor: Visitor) -> None:
    page = await visitor.page(DOCS)
    loaded = [each.get("src") or each.get("href") for tag in ("script", "link", "img")
              for each in page.all(tag)]  # fmt: skip
    assert loaded
    assert all(str(link).startswith("/static/") for link in loaded)
    assert "default-src 'none'" in page.answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "#/components/schemas/BuildOut"}, "BuildOut"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"type": "array", "items": {"type": "integer"}}, "list of integer"),
        ({"enum": ["none", "accepted"]}, "none | accepted"),
        ({"type": "string", "format": "date-time"}, "date-time"),
        ({}, "anything"),
    ],
)
def test_a_type_is_told_in_a_few_words(schema: dict[str, object], words: str) -> None:
    assert kind_of(schema) == words
