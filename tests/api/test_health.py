"""Whether the process lives, and whether it can do its work."""

from pathlib import Path

import httpx

from storyshelf.db.engine import Database
from tests.api.client import API, problem
from tests.app import asking, parts_on


async def test_a_server_with_a_database_is_ready(http: httpx.AsyncClient) -> None:
    assert (await http.get("/health/live")).json() == {"status": "live"}
    assert (await http.get("/health/ready")).json() == {"status": "ready"}


async def test_a_server_without_its_database_lives_and_says_what_is_wrong(tmp_path: Path) -> None:
    nobody = Database("postgresql://storyshelf@127.0.0.1:1/none")
    async with asking(parts_on(nobody, tmp_path)) as http:
        assert (await http.get("/health/live")).status_code == 200
        ready = await http.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
        assert "database" in ready.json()["why"]
        headers = {"authorization": f"Bearer ssp_{'a' * 43}"}
        away = await http.get(f"{API}/project", headers=headers)
        problem(away, 503, "database-away")
        assert int(away.headers["retry-after"]) > 0  # a client that honours it bridges a restart
        page = await http.get("/")
        assert page.status_code == 503
        assert "The database does not answer" in page.text
    await nobody.close()
