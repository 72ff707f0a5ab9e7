"""`/projects/{slug}/settings/tokens`: made, shown once, revoked."""

import re

import httpx
import pytest

from storyshelf.auth import store as tokens
from storyshelf.auth.permissions import Scope
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import UnknownTokenError, hash_of
from storyshelf.projects.make import make_token
from tests.builds.hand import Hand
from tests.ui.facts import audited, typed_into
from tests.ui.visitor import Page, Visitor

TOKENS = "/projects/shop/settings/tokens"
HOSTILE = "<img src=x onerror=alert(1)>"


async def send(visitor: Visitor, **fields: str | list[str]) -> httpx.Response:
    return await visitor.client.post(TOKENS, data={"name": "ci", "scope": ["upload"]} | fields)


def shown_in(answer: httpx.Response) -> str:
    (text,) = set(re.findall(r"ssp_[A-Za-z0-9_-]{43}", answer.text))
    return str(text)


async def test_a_token_is_shown_once_with_what_ci_needs(hand: Hand, visitor: Visitor) -> None:
    answer = await send(visitor, name="nightly", scope=["upload", "read"], days="90")
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    text = shown_in(answer)
    for words in ("STORYSHELF_PROJECT_TOKEN", "STORYSHELF_URL: http://shelf.test", "${{ secrets."):
        assert words in Page(answer).text
    assert text not in (await visitor.page(TOKENS)).text
    async with hand.db.transaction() as tx:
        caller = await tokens.caller_of(tx, hash_of(text))
        (kept,) = await tokens.tokens_of(tx, hand.project.id)
    assert (caller.token_name, caller.scopes) == ("nightly", frozenset({Scope.UPLOAD, Scope.READ}))
    assert kept.expires_at is not None
    assert (kept.expires_at - kept.created_at).days == 90
    ((actor, detail),) = await audited(hand.db, "token.create")
    assert (actor, detail["name"]) == ("ada@shelf.test", "nightly")
    assert text not in str(detail)


async def test_a_revoked_token_ends_at_once(hand: Hand, visitor: Visitor) -> None:
    text = shown_in(await send(visitor))
    page = await visitor.page(TOKENS)
    (revoke,) = [each["action"] for each in page.all("form") if "revoke" in (each["action"] or "")]
    answer = await visitor.client.post(revoke or "")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{TOKENS}?done=revoked")
    async with hand.db.transaction() as tx:
        with pytest.raises(UnknownTokenError):
            await tokens.caller_of(tx, hash_of(text))
    assert "revoked" in (await visitor.page(TOKENS)).text
    again = await visitor.client.post(revoke or "")
    assert again.headers["location"] == f"{TOKENS}?done=gone"
    assert len(await audited(hand.db, "token.revoke")) == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": " "}, "A token's name has 1 to 100 characters"),
        ({"name": "x" * 101}, "A token's name has 1 to 100 characters"),
        ({"scope": []}, "A token that may do nothing"),
        ({"days": "7"}, "There is no such choice"),
    ],
)
async def test_wrong_input_makes_no_token_and_comes_back(
    hand: Hand, visitor: Visitor, fields: dict[str, str | list[str]], words: str
) -> None:
    answer = await send(visitor, **fields)
    assert answer.status_code == 422
    page = Page(answer)
    assert words in page.text
    assert typed_into(page)["name"] == fields.get("name", "ci")
    assert "There is no token yet" in page.text


async def test_the_name_of_a_token_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    made = Page(await send(visitor, name=HOSTILE))
    for page in (made, await visitor.page(TOKENS)):
        assert page.all("img") == []
        assert HOSTILE in page.text


async def test_tokens_are_paged_the_newest_first(hand: Hand, visitor: Visitor) -> None:
    async with hand.db.transaction() as tx:
        for number in range(60):
            await make_token(tx, hand.project, TokenUse(f"t-{number:02}"), "somebody")
    first = await visitor.page(TOKENS)
    second = await visitor.page(first.next_link() or "")
    seen = re.findall(r"\bt-\d\d\b", first.text) + re.findall(r"\bt-\d\d\b", second.text)
    assert seen == [f"t-{number:02}" for number in range(59, -1, -1)]
    assert second.next_link() is None


async def test_the_token_of_another_project_is_not_revoked(hand: Hand, visitor: Visitor) -> None:
    await send(visitor)
    async with hand.db.transaction() as tx:
        (kept,) = await tokens.tokens_of(tx, hand.project.id)
    await visitor.client.post("/new-project", data={"slug": "other", "default_branch": "main"})
    answer = await visitor.client.post(f"/projects/other/settings/tokens/{kept.id}/revoke")
    assert answer.headers["location"].endswith("?done=gone")
    async with hand.db.transaction() as tx:
        (kept,) = await tokens.tokens_of(tx, hand.project.id)
    assert kept.revoked_at is None
