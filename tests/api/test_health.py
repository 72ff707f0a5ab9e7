"""Whether the process lives, and whether it can do its work."""

from pathlib import Path

import httpx

from storyshelf.db.engine import Database
from storyshelf.web.caller import COOKIE
from tests.api.client import API, problem
from tests.app import asking, parts_on
from tests.db.silent_line import a_line_to


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
        http.cookies.set(COOKIE, "one that cannot be looked up now")
        page = await http.get("/")
        assert page.status_code == 503
        assert "The database does not answer" in page.text
    await nobody.close()


async def test_a_database_that_went_silent_is_told_of_in_seconds(
    database_url: str, tmp_path: Path
) -> None:
    async with a_line_to(database_url) as (line, url):
        silent = Database(url)
        async with asking(parts_on(silent, tmp_path)) as http:
            assert (await http.get("/health/ready")).status_code == 200
            line.whole.clear()
            ready = await http.get("/health/ready")
            assert (ready.status_code, ready.json()["why"]) == (503, "database: TimeoutError")
            line.whole.set()
            assert (await http.get("/health/ready")).status_code == 200
        await silent.close()
