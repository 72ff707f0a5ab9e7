"""`/projects/{slug}/settings/connections`: where verdicts go, and whether they get there."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from storyshelf.auth.permissions import Role
from storyshelf.deliveries import store
from storyshelf.deliveries.connection import Connection, ConnectionKind, Forge, Hook
from tests.builds.hand import Hand
from tests.deliveries.courier import Courier
from tests.deliveries.forge import NESTED, SHOP, TOKEN, FakeForge, answers, running
from tests.people import sign_in
from tests.ui.facts import audited, strange_scripts
from tests.ui.visitor import Page, Visitor

LINK = "/projects/shop/settings/connections"
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture
def forge() -> FakeForge:
    return FakeForge()


@pytest.fixture
def forge_url(forge: FakeForge) -> Iterator[str]:
    with running(forge) as url:
        yield url


async def connect(visitor: Visitor, kind: str, **fields: str) -> httpx.Response:
    return await visitor.client.post(f"{LINK}/new/{kind}", data=fields)


async def act(visitor: Visitor, connection: Connection, what: str, **fields: str) -> httpx.Response:
    return await visitor.client.post(f"{LINK}/{connection.id}/{what}", data=fields)


async def connections(hand: Hand) -> list[Connection]:
    async with hand.db.transaction() as tx:
        return list(await store.connections_of(tx, hand.project.id))


async def connected(hand: Hand, visitor: Visitor, forge_url: str, **fields: Any) -> Connection:
    said = {"repository": SHOP, "url": f"{forge_url}/", "secret": TOKEN, "comments": "yes"}
    answer = await connect(visitor, "github", **{**said, **fields})
    assert answer.status_code == 303, answer.text
    return (await connections(hand))[-1]


def courier(hand: Hand) -> Courier:
    return Courier(hand)


@pytest.mark.usefixtures("hand")
async def test_without_a_connection_the_page_says_what_to_do(visitor: Visitor) -> None:
    page = await visitor.page(LINK)
    assert "No connection yet" in page.text
    assert f"{LINK}/new/github" in page.links


async def test_a_token_is_sealed_and_never_shown(
    hand: Hand, visitor: Visitor, forge_url: str
) -> None:
    made = await connected(hand, visitor, forge_url, checks_storybook="yes")
    assert isinstance(made.config, Forge)
    assert (made.config.repository, made.config.checks_storybook) == (SHOP, True)
    assert TOKEN.encode() not in made.secret
    assert courier(hand).secrets.open(made.secret) == TOKEN
    page = await visitor.page(f"{LINK}?done=connected")
    assert "UI Tests, Storybook Publish, a comment" in page.text
    assert TOKEN not in page.answer.text
    ((actor, detail),) = await audited(hand.db, "connection.create")
    assert (actor, detail["name"]) == ("ada@shelf.test", SHOP)


@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        ("github", "", "https://api.github.com"),
        ("github", "https://ghe.test", "https://ghe.test/api/v3"),
        ("gitlab", "", "https://gitlab.com/api/v4"),
        ("gitlab", "https://git.test:8443/", "https://git.test:8443/api/v4"),
    ],
)
async def test_an_address_is_completed(
    hand: Hand, visitor: Visitor, kind: str, given: str, stored: str
) -> None:
    await connect(visitor, kind, repository=SHOP, url=given, secret=TOKEN)
    (made,) = await connections(hand)
    assert isinstance(made.config, Forge)
    assert made.config.api_url == stored


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("github", {"repository": "shop"}),
        ("github", {"repository": "a/../../b"}),
        ("github", {"repository": NESTED}),
        ("github", {"secret": ""}),
        ("github", {"secret": "two\nlines"}),
        ("gitlab", {"url": "ftp://git.test"}),
        ("gitlab", {"url": "https://ada:pw@git.test"}),
        ("webhook", {"url": ""}),
        ("webhook", {"url": "javascript:alert(1)"}),
    ],
)
async def test_what_is_wrong_is_marked_and_what_was_typed_stays(
    hand: Hand, visitor: Visitor, kind: str, wrong: dict[str, str]
) -> None:
    right = {"repository": SHOP, "url": "https://forge.test/x", "secret": TOKEN}
    answer = await connect(visitor, kind, **{**right, **wrong})
    assert answer.status_code == 422
    page = Page(answer)
    marked = [each["name"] for each in page.all("input") if "aria-invalid" in each]
    assert marked == list(wrong)
    assert TOKEN not in answer.text
    assert await connections(hand) == []


async def test_a_test_asks_the_forge_for_the_repository(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    made = await connected(hand, visitor, forge_url)
    page = Page(await act(visitor, made, "test"))
    assert "shelf/shop is there, and the token may write there" in page.text
    assert forge.requests == ["GET /api/v3/repos/shelf/shop"]


async def test_a_test_of_a_wrong_token_says_what_to_mend(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    courier_id = await courier(hand).connect(ConnectionKind.GITHUB, forge_url, secret="old")
    page = Page(await visitor.client.post(f"{LINK}/{courier_id}/test"))
    assert "401: Bad credentials" in page.text
    await visitor.client.post(f"{LINK}/{courier_id}/secret", data={"secret": TOKEN})
    page = Page(await visitor.client.post(f"{LINK}/{courier_id}/test"))
    assert "shelf/shop is there, and the token may write there" in page.text


async def test_a_test_that_nobody_answers_says_what_to_check(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    forge.troubles.append(answers(503, "away"))
    made = await connected(hand, visitor, forge_url)
    page = Page(await act(visitor, made, "test"))
    assert "It answered 503: away." in page.text
    assert "check the address, and that the other end works." in page.text


async def test_a_gitlab_project_of_nested_groups_is_asked_for(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    await connect(visitor, "gitlab", repository=NESTED, url=forge_url, secret=TOKEN)
    (made,) = await connections(hand)
    page = Page(await act(visitor, made, "test"))
    assert f"{NESTED} is there, and the token may set statuses" in page.text


async def test_a_webhook_gets_a_key_that_is_shown_once(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    answer = await connect(visitor, "webhook", url=f"{forge_url}/hook")
    (made,) = await connections(hand)
    key = courier(hand).secrets.open(made.secret)
    assert answer.status_code == 201
    assert key in answer.text
    assert key not in (await visitor.page(LINK)).answer.text
    assert isinstance(made.config, Hook)
    page = Page(await act(visitor, made, "test"))
    assert "took the event `ping`" in page.text
    ((_, body),) = forge.events
    assert json.loads(body)["event"] == "ping"


async def test_a_failed_delivery_is_shown_and_sent_again(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    by = courier(hand)
    connection_id = await by.connect(ConnectionKind.GITHUB, forge_url, secret="old")
    await hand.open(["a--one"])
    await by.deliver()
    page = await visitor.page(LINK)
    assert "failed" in page.text
    assert "commit status UI Tests, build 1" in page.text
    assert "The token is not valid there: enter a new one." in page.text
    await visitor.client.post(f"{LINK}/{connection_id}/secret", data={"secret": TOKEN})
    await by.deliver()
    assert forge.effective("c0ffee") == {"UI Tests": "pending"}
    forge.statuses.clear()
    (row,) = await by.deliveries()
    again = f"{LINK}/{connection_id}/deliveries/{row['id']}/resend"
    assert (await visitor.client.post(again)).status_code == 303
    await by.deliver()
    assert forge.effective("c0ffee") == {"UI Tests": "pending"}


async def test_a_connection_is_disabled_enabled_and_deleted(
    hand: Hand, visitor: Visitor, forge_url: str
) -> None:
    made = await connected(hand, visitor, forge_url)
    for what in ("disable", "enable", "resend", "delete"):
        assert (await act(visitor, made, what)).status_code == 303
    assert await connections(hand) == []
    assert (await act(visitor, made, "enable")).status_code == 404
    for what in ("create", "disable", "enable", "resend", "delete"):
        assert len(await audited(hand.db, f"connection.{what}")) == 1


async def test_words_of_a_forge_are_no_markup(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    connection_id = await courier(hand).connect(ConnectionKind.GITHUB, forge_url)
    forge.troubles.append(answers(404, HOSTILE))
    answer = await visitor.client.post(f"{LINK}/{connection_id}/test")
    assert strange_scripts(Page(answer)) == []
    assert HOSTILE not in answer.text


async def test_a_builds_page_says_what_was_delivered(
    hand: Hand, visitor: Visitor, forge: FakeForge, forge_url: str
) -> None:
    by = courier(hand)
    await by.connect(ConnectionKind.GITHUB, forge_url)
    await hand.open(["a--one"], pull_request=7)
    waiting = await visitor.page("/projects/shop/builds/1")
    assert "Deliveries: 2 on its way" in waiting.text
    await by.deliver()
    page = await visitor.page("/projects/shop/builds/1")
    assert "Deliveries: 2 delivered" in page.text
    assert "GitHub github: comment on 7" in page.text
    assert "Send again" in page.text


async def test_a_viewer_sees_the_deliveries_and_sends_none(
    hand: Hand, visitor: Visitor, forge_url: str
) -> None:
    await courier(hand).connect(ConnectionKind.GITHUB, forge_url)
    await hand.open(["a--one"])
    await sign_in(hand.db, visitor.client, "vic@shelf.test", roles={hand.project.id: Role.VIEWER})
    page = await visitor.page("/projects/shop/builds/1")
    assert "Deliveries: 1 on its way" in page.text
    assert "Send again" not in page.text
