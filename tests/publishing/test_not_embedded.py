"""The app's own pages and files are not loaded into pages of other origins either."""

import httpx
import pytest

from tests.app import PUBLIC_URL
from tests.publishing.shelf import OPENED

IMAGE = {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
FRAME = OPENED | {"sec-fetch-dest": "iframe"}


@pytest.mark.parametrize("path", ["/", "/projects/shop/images/00", "/static/x/keys.js", "/sign-in"])
@pytest.mark.parametrize("how", [IMAGE, FRAME, {"origin": "http://evil.content.shelf.test"}])
async def test_what_another_origins_page_loads_is_refused(
    client: httpx.AsyncClient, path: str, how: dict[str, str]
) -> None:
    answer = await client.get(path, headers=how)
    assert (answer.status_code, "not be loaded into a page" in answer.text) == (403, True)


@pytest.mark.parametrize(
    "how", [OPENED, IMAGE | {"sec-fetch-site": "same-origin"}, {"origin": PUBLIC_URL}, {}]
)
async def test_what_a_person_opens_or_its_own_page_loads_is_answered(
    client: httpx.AsyncClient, how: dict[str, str]
) -> None:
    assert (await client.get("/sign-in", headers=how)).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/limits", "/health/live"])
async def test_what_takes_no_cookie_asks_nobody_where_he_is_from(
    client: httpx.AsyncClient, path: str
) -> None:
    assert (await client.get(path, headers=IMAGE)).status_code == 200
