"""Routes x roles: each row of the table is asked by each of its callers."""

from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from storyshelf.db.engine import Database
from storyshelf.server import create_app
from tests.app import asking, parts_on
from tests.routes.table import (
    LINES,
    PAGES,
    PEOPLE_IN_ORDER,
    TOKEN_LINES,
    TOKEN_ROUTES,
    TOKENS_IN_ORDER,
    Row,
)
from tests.routes.walk import routes_of
from tests.routes.world import World, a_world, is_hidden


async def test_every_route_has_its_row_and_every_row_its_route(
    db: Database, tmp_path: Path
) -> None:
    routes = routes_of(create_app(parts_on(db, tmp_path / "blobs")))
    assert len(routes) > 50
    assert routes == PAGES.keys() | TOKEN_ROUTES.keys()


@pytest.mark.timeout(120)
async def test_pages_answer_each_person_as_the_table_says(db: Database, tmp_path: Path) -> None:
    expected = _expected(PEOPLE_IN_ORDER, LINES)
    await ask_all(db, tmp_path / "blobs", PAGES, expected)


@pytest.mark.timeout(120)
async def test_the_api_answers_each_token_as_the_table_says(db: Database, tmp_path: Path) -> None:
    expected = _expected(TOKENS_IN_ORDER, TOKEN_LINES)
    await ask_all(db, tmp_path / "blobs", TOKEN_ROUTES, expected)


def test_the_table_says_of_every_caller_what_comes_of_it() -> None:
    for order, lines in ((PEOPLE_IN_ORDER, LINES), (TOKENS_IN_ORDER, TOKEN_LINES)):
        assert {len(line.split()) for line in lines.values()} == {len(order.split())}


async def ask_all(
    db: Database,
    blobs: Path,
    rows: Mapping[str, Row],
    expected: Mapping[str, Mapping[str, str]],
) -> None:
    """Ask every row as every caller, those first who may least."""
    world = await a_world(db, blobs)
    found = []
    async with asking(parts_on(db, blobs)) as client:
        for route, row in rows.items():
            for who, outcome in expected[row.line].items():
                answer = await ask(client, world, route, row, who)
                if outcome_of(route, answer) != outcome:
                    found.append(f"{route} by {who}: {answer.status_code}, expected {outcome}")
    assert not found, "\n".join(found)


async def ask(
    client: httpx.AsyncClient, world: World, route: str, row: Row, who: str
) -> httpx.Response:
    """Ask one route as one caller, with nothing left of who asked before."""
    method, template = route.split()
    client.cookies.clear()
    sent = {"json" if template.startswith("/api/") else "data": row.sent} if row.sent else {}
    headers = {**await world.headers(who), **row.headers}
    path = world.path(route, row)
    return await client.request(method, path, headers=headers, **sent)  # type: ignore[arg-type]  # one of the two


def outcome_of(route: str, answer: httpx.Response) -> str:
    """Return the outcome in the table's words; what is none of them stands for itself."""
    is_led = answer.headers.get("location", "").startswith("/sign-in")
    has_signed_out = "set-cookie" in answer.headers  # and is led there because of it
    if answer.status_code == 401 or (is_led and not has_signed_out):
        return "in"
    if answer.status_code == 403:
        return "no"
    if is_hidden(answer):
        return "hidden"
    is_broken = answer.status_code >= 500 or (route.startswith("GET") and answer.is_client_error)
    return f"status {answer.status_code}" if is_broken else "ok"


def _expected(order: str, lines: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {
        name: dict(zip(order.split(), line.split(), strict=True)) for name, line in lines.items()
    }
