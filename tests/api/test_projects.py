"""Who a token speaks for, and what is refused without one."""

import httpx
import pytest
from sqlalchemy import text

from tests.api.client import API, Robo, problem
from tests.builds.hand import Hand


async def test_a_token_names_its_project(robo: Robo) -> None:
    assert (await robo.get(f"{API}/project")).json() == {
        "slug": "shop",
        "name": "Shop",
        "default_branch": "main",
        "url": "http://shelf.test/projects/shop",
    }


async def test_limits_are_told_without_a_token(http: httpx.AsyncClient) -> None:
    assert (await http.get(f"{API}/limits")).json() == {
        "max_files": 25_000,
        "max_file_bytes": 104_857_600,
        "max_bundle_bytes": 2_147_483_648,
        "max_path_length": 1_024,
    }


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ssp_short", f"Bearer ssp_{'a' * 43}", f"Basic ssp_{'a' * 43}"],
)
async def test_a_bad_token_is_refused(robo: Robo, authorization: str) -> None:
    answer = await robo.http.get(f"{API}/project", headers={"authorization": authorization})
    problem(answer, 401, "unknown-token")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("column", ["revoked_at", "expires_at"])
async def test_a_token_that_ended_is_refused(robo: Robo, hand: Hand, column: str) -> None:
    async with hand.db.transaction() as tx:
        await tx.execute(text(f"UPDATE tokens SET {column} = now() - interval '1 second'"))
    problem(await robo.get(f"{API}/project"), 401, "unknown-token")


async def test_another_projects_token_finds_nothing(robo: Robo, stranger: Robo) -> None:
    await robo.open()
    for path in (robo.builds, f"{robo.builds}/1", f"{robo.builds}/1/snapshots"):
        problem(await stranger.get(path), 404, "no-such-project")
    for path in ("seal", "cancel", "capture-again", "shards/1/retry", "shards/1/cancel"):
        problem(await stranger.post(f"{robo.builds}/1/{path}"), 404, "no-such-project")
    assert (await robo.get(f"{robo.builds}/1")).json()["build"]["state"] == "uploading"


async def test_every_route_below_a_project_asks_for_a_token(http: httpx.AsyncClient) -> None:
    described = (await http.get(f"{API}/openapi.json")).json()["paths"]
    routes = [(m, p) for p, methods in described.items() for m in methods if "{slug}" in p]
    assert len(routes) >= 14
    for method, path in routes:
        asked = path.format(slug="shop", number=1, shard=1, snapshot_id=1, sha256="a" * 64)
        problem(await http.request(method, asked), 401, "unknown-token")


async def test_a_foreign_host_name_is_refused(robo: Robo) -> None:
    for name in ("rebound.example", "shelf.test.evil.example", "", "[", "localhost@evil.example"):
        answer = await robo.get(f"{API}/project", headers={"host": name})
        problem(answer, 421, "unknown-host")


async def test_the_machines_own_names_are_answered(robo: Robo) -> None:
    for name in ("localhost:8765", "127.0.0.1", "[::1]:8765", "SHELF.test"):
        assert (await robo.get(f"{API}/project", headers={"host": name})).status_code == 200


async def test_what_is_not_there_is_a_problem_too(http: httpx.AsyncClient) -> None:
    problem(await http.get(f"{API}/nothing"), 404, "not-found")
    problem(await http.delete(f"{API}/project"), 405, "method-not-allowed")
