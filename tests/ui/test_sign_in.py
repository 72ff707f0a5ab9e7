"""Sign in, by password and by link: who is let in, and where a page leads on to."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from storyshelf.auth import sign_in, user_store
from storyshelf.db.engine import Database
from storyshelf.ids import UserId
from storyshelf.web.caller import COOKIE
from storyshelf.web.own_path import own_path
from storyshelf.wiring import Parts
from tests.app import PUBLIC_URL, asking, parts_on

PASSWORD = "correct horse battery"
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36"


@pytest.fixture
def parts(db: Database, tmp_path: Path) -> Parts:
    return parts_on(db, tmp_path / "blobs")


@pytest.fixture
async def browser(parts: Parts) -> AsyncIterator[httpx.AsyncClient]:
    async with asking(parts) as client:
        client.headers.update({"origin": PUBLIC_URL, "user-agent": CHROME})
        yield client


@pytest.fixture
async def ada(parts: Parts) -> UserId:
    """Ada, who has a password and sees everything."""
    kept = await parts.door.passwords.hash_of(PASSWORD)
    async with parts.db.transaction() as tx:
        user_id = await user_store.add_user(tx, "ada@shelf.test", "Ada", is_admin=True)
        assert user_id is not None
        await user_store.set_password(tx, user_id, kept)
    return user_id


def typed(password: str = PASSWORD, **more: str) -> dict[str, str]:
    return {"email": "Ada@shelf.test", "password": password, **more}


async def a_link(parts: Parts, user_id: UserId, lives: timedelta = timedelta(hours=1)) -> str:
    async with parts.db.transaction() as tx:
        return f"/sign-in/{await sign_in.make_link(tx, user_id, lives)}"


async def test_a_page_leads_who_is_not_signed_in_to_the_form_and_then_back(
    browser: httpx.AsyncClient, ada: UserId
) -> None:
    led = await browser.get("/projects/shop?branch=a%26b")
    assert (led.status_code, led.headers["location"]) == (
        303,
        "/sign-in?next=%2Fprojects%2Fshop%3Fbranch%3Da%2526b",
    )
    form = await browser.get(led.headers["location"])
    assert 'name="next" value="/projects/shop?branch=a%26b"' in form.text
    back = await browser.post("/sign-in", data=typed(next="/projects/shop?branch=a%26b"))
    assert (back.status_code, back.headers["location"]) == (303, "/projects/shop?branch=a%26b")
    assert (await browser.get("/")).status_code == 200


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    browser: httpx.AsyncClient, ada: UserId
) -> None:
    answer = await browser.post("/sign-in", data=typed())
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))


async def test_over_https_the_cookie_is_this_hosts_alone(parts: Parts, ada: UserId) -> None:
    https = "https://shelf.test"
    async with asking(replace(parts, public_url=https)) as client:
        client.base_url = httpx.URL(https)
        client.headers["origin"] = https
        answer = await client.post("/sign-in", data=typed())
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"__Host-{COOKIE}=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
        assert "Domain" not in cookie
        assert (await client.get("/")).status_code == 200
        left = (await client.post("/sign-out")).headers["set-cookie"]
        assert left.startswith(f'__Host-{COOKIE}=""')
        assert "Secure" in left  # a browser does not let go of it otherwise


@pytest.mark.parametrize(
    "elsewhere",
    [
        *("https://evil.test/", "//evil.test/", "/\\evil.test", "/\t/evil.test", "javascript:x"),
        *("\\\\evil.test", " /", "", "/\n/evil.test", "/a\\b", "http:/evil.test", "/" * 3000),
    ],
)
async def test_no_link_leads_to_another_host(
    browser: httpx.AsyncClient, ada: UserId, elsewhere: str
) -> None:
    assert own_path(elsewhere) == "/"
    answer = await browser.post("/sign-in", data=typed(next=elsewhere))
    assert answer.headers.get("location", "/") == "/"


async def test_a_wrong_password_is_refused_in_the_words_of_a_wrong_address(
    browser: httpx.AsyncClient, ada: UserId
) -> None:
    wrong = await browser.post("/sign-in", data=typed("wrong horse battery"))
    nobody = await browser.post(
        "/sign-in", data={"email": "cleo@shelf.test", "password": "wrong horse battery"}
    )
    assert wrong.status_code == nobody.status_code == 422
    assert "set-cookie" not in wrong.headers
    assert wrong.text.replace("Ada@shelf.test", "") == nobody.text.replace("cleo@shelf.test", "")


async def test_looking_at_a_link_uses_nothing_up(
    browser: httpx.AsyncClient, parts: Parts, ada: UserId
) -> None:
    link = await a_link(parts, ada)
    for _ in range(3):
        shown = await browser.get(link)
        assert "Sign in as Ada" in shown.text
        assert shown.headers["cache-control"] == "no-store"
        assert "set-cookie" not in shown.headers
    assert (await browser.post(f"{link}?next=")).headers["location"] == "/"
    assert (await browser.get("/")).status_code == 200


async def test_a_link_works_once(browser: httpx.AsyncClient, parts: Parts, ada: UserId) -> None:
    link = await a_link(parts, ada)
    assert (await browser.post(link)).status_code == 303
    again = await browser.post(link)
    assert (again.status_code, "does not work any more" in again.text) == (404, True)
    assert (await browser.get(link)).status_code == 404


async def test_who_has_no_password_is_led_to_where_to_set_one(
    browser: httpx.AsyncClient, parts: Parts, ada: UserId
) -> None:
    async with parts.db.transaction() as tx:
        await user_store.set_password(tx, ada, None)
    first = await browser.post(await a_link(parts, ada))
    assert first.headers["location"] == "/account"
    named = await browser.post(f"{await a_link(parts, ada)}?next=%2Fprojects%2Fshop")
    assert named.headers["location"] == "/projects/shop"


async def test_signing_out_ends_the_session_and_not_only_the_cookie(
    browser: httpx.AsyncClient, ada: UserId
) -> None:
    await browser.post("/sign-in", data=typed())
    kept = browser.cookies[COOKIE]
    left = await browser.post("/sign-out")
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    browser.cookies.set(COOKIE, kept)
    assert (await browser.get("/")).headers["location"] == "/sign-in"


async def test_signing_in_ends_the_session_that_the_browser_had(
    browser: httpx.AsyncClient, ada: UserId
) -> None:
    await browser.post("/sign-in", data=typed())
    before = browser.cookies[COOKIE]
    await browser.post("/sign-in", data=typed())
    assert browser.cookies[COOKIE] != before
    browser.cookies.clear()
    browser.cookies.set(COOKIE, before)
    assert (await browser.get("/")).headers["location"] == "/sign-in"


async def test_who_is_signed_in_is_led_on_by_the_form(
    browser: httpx.AsyncClient, ada: UserId
) -> None:
    await browser.post("/sign-in", data=typed())
    assert (await browser.get("/sign-in?next=/account")).headers["location"] == "/account"


async def test_what_a_page_loads_is_answered_and_not_led_away(browser: httpx.AsyncClient) -> None:
    picture = await browser.get("/projects/shop", headers={"sec-fetch-dest": "image"})
    assert picture.status_code == 401
    part = await browser.get(
        "/projects/shop/builds/1/live",
        headers={
            "hx-request": "true",
            "hx-current-url": f"{PUBLIC_URL}/projects/shop/builds/1?q=a",
        },
    )
    assert part.status_code == 401
    assert part.headers["hx-redirect"] == "/sign-in?next=%2Fprojects%2Fshop%2Fbuilds%2F1%3Fq%3Da"


@pytest.mark.parametrize("by_script", [True, False])
async def test_who_sends_a_decision_after_their_session_ended_is_told_that_it_was_not_taken(
    browser: httpx.AsyncClient, *, by_script: bool
) -> None:
    page = f"{PUBLIC_URL}/projects/shop/builds/1?q=a"
    sent = {"hx-request": "true", "hx-current-url": page} if by_script else {"referer": page}
    answer = await browser.post("/projects/shop/builds/1/decisions", headers=sent)
    onward = answer.headers["hx-redirect" if by_script else "location"]
    assert onward == "/sign-in?next=%2Fprojects%2Fshop%2Fbuilds%2F1%3Fq%3Da&unsent=1"
    asked = (await browser.get(onward)).text
    assert "what you just sent was not done" in asked
    assert 'value="/projects/shop/builds/1?q=a"' in asked


@pytest.mark.parametrize(
    "body",
    [
        b"email=%00&password=x",
        b"email=%ff%fe&password=%ff",
        b"email=" + b"a" * 400 + b"&password=x",
        b"email=a&password=" + b"x" * 2_000,
        b"&".join(b"email=%d" % number for number in range(2_000)),
        b"\xff\x00" * 100,
        b"",
    ],
    ids=["NUL", "no text", "long address", "long password", "many fields", "no form", "nothing"],
)
async def test_a_form_that_nobody_typed_is_answered_and_lets_nobody_in(
    browser: httpx.AsyncClient, ada: UserId, body: bytes
) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = await browser.post("/sign-in", content=body, headers=form)
    assert answer.status_code in {400, 413, 422}
    assert "set-cookie" not in answer.headers
