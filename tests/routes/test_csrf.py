"""No page of another origin changes anything: every such route asks for a proof, first of all."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest

from storyshelf.db.engine import Database
from tests.app import PUBLIC_URL, asking, parts_on
from tests.routes.table import PAGES, TOKEN_ROUTES
from tests.routes.test_roles import ask
from tests.routes.world import World, a_world, state_of

CHANGING = {route: row for route, row in PAGES.items() if not route.startswith("GET ")}
HOST = PUBLIC_URL.removeprefix("http://")
ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "no proof": {},
    "a foreign origin": {"origin": "https://evil.test"},
    "an origin that is none": {"origin": "null"},
    "an empty origin": {"origin": ""},
    "another port": {"origin": f"{PUBLIC_URL}:8080"},
    "a name that begins alike": {"origin": f"{PUBLIC_URL}.evil.test"},
    "a name that ends alike": {"origin": f"http://evil-{HOST}"},
    "a published Storybook": {"origin": f"http://shop.content.{HOST}"},
    "the host as a password": {"origin": f"http://{HOST}@evil.test"},
    "the same site": {"sec-fetch-site": "same-site"},
    "another site": {"sec-fetch-site": "cross-site"},
    "a bookmark": {"sec-fetch-site": "none"},
    "the same site, with our origin": {"sec-fetch-site": "same-site", "origin": PUBLIC_URL},
    "another site, with our origin": {"sec-fetch-site": "cross-site", "origin": PUBLIC_URL},
    "our site, with a foreign origin": {
        "sec-fetch-site": "same-origin",
        "origin": "https://evil.test",
    },
    "a word that no browser says": {"sec-fetch-site": "same-origin, cross-site"},
}


@pytest.fixture
async def world(db: Database, tmp_path: Path) -> World:
    return await a_world(db, tmp_path / "blobs")


@pytest.fixture
async def browser(world: World, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Whoever may do everything here, lured to a page elsewhere."""
    async with asking(parts_on(world.db, tmp_path / "blobs")) as client:
        client.headers["cookie"] = (await world.headers("operator"))["cookie"]
        yield client


@pytest.mark.timeout(60)
async def test_nothing_is_changed_from_elsewhere(world: World, browser: httpx.AsyncClient) -> None:
    assert len(CHANGING) > 20
    assert {route.split()[0] for route in CHANGING} == {"POST"}
    before = await state_of(world.db)
    for proof, headers in ELSEWHERE.items():
        for route, row in CHANGING.items():
            path = world.path(route, row)
            answer = await browser.post(path, data=dict(row.sent), headers=headers)
            assert answer.status_code == 403, (proof, route)
            assert "a page of this server" in answer.text
            assert "set-cookie" not in answer.headers
    assert await state_of(world.db) == before


async def test_the_same_is_changed_from_our_own_pages(
    world: World, browser: httpx.AsyncClient
) -> None:
    """So that the refusals above are for the proof that was missing, and nothing else."""
    before = await state_of(world.db)
    deny = "POST /projects/{slug}/builds/{number}/decisions"
    path, sent = world.path(deny, PAGES[deny]), dict(PAGES[deny].sent)
    for proof in ({"origin": PUBLIC_URL}, {"sec-fetch-site": "same-origin"}):
        answer = await browser.post(path, data=sent, headers=proof)
        assert answer.status_code == 303
    assert await state_of(world.db) != before


async def test_what_a_link_or_a_picture_can_ask_for_changes_nothing(
    world: World, browser: httpx.AsyncClient
) -> None:
    before = await state_of(world.db)
    for route, row in PAGES.items():
        if route.startswith("GET "):
            answer = await browser.get(world.path(route, row), headers=row.headers)
            assert answer.status_code < 400, route
    assert await state_of(world.db) == before


async def test_a_changing_route_does_not_answer_to_a_link(
    world: World, browser: httpx.AsyncClient
) -> None:
    only = [route for route in CHANGING if route.replace("POST", "GET") not in PAGES]
    assert len(only) > 10
    for route in only:
        answer = await browser.get(world.path(route, CHANGING[route]))
        assert answer.status_code in {404, 405}, route


async def test_the_api_takes_no_cookie(world: World, tmp_path: Path) -> None:
    """So a page elsewhere has nothing to send with: a token is not sent by a browser on its own."""
    async with asking(parts_on(world.db, tmp_path / "blobs")) as client:
        for route, row in TOKEN_ROUTES.items():
            if row.line != "open":
                answer = await ask(client, world, route, row, "operator")
                assert answer.status_code == 401, route
                assert "access-control-allow-origin" not in answer.headers
