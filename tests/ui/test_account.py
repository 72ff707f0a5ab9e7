"""One's own account: where one is signed in, and one's password."""

from pathlib import Path

import httpx
import pytest

from storyshelf.db.engine import Database
from storyshelf.ui.view_models.account import agent_words
from storyshelf.web.caller import COOKIE
from tests.app import PUBLIC_URL, asking, parts_on
from tests.people import sign_in
from tests.ui.test_sign_in import PASSWORD, typed
from tests.ui.visitor import Page, Visitor

HOSTILE = "<script>alert(1)</script>"


async def post(visitor: Visitor, link: str, **fields: str) -> httpx.Response:
    return await visitor.client.post(link, data=fields)


async def test_who_has_no_password_sets_one_and_signs_in_by_it(visitor: Visitor) -> None:
    page = await visitor.page("/account")
    assert "Set a password" in page.text
    assert "present" not in page.ids
    done = await post(visitor, "/account/password", wanted=PASSWORD)
    assert (done.status_code, done.headers["location"]) == (303, "/account?done=password")
    shown = await visitor.page("/account?done=password")
    assert "The password is set." in shown.text
    assert "Change your password" in shown.text
    signed_in = await post(visitor, "/sign-in", **typed())
    assert signed_in.headers["location"] == "/"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"present": PASSWORD, "wanted": "qzkxv"}, "shorter than 12 characters"),
        ({"present": PASSWORD, "wanted": "x" * 201}, "longer than 200 characters"),
        ({"present": "wrong", "wanted": "a better password"}, "The present password is wrong"),
        ({"wanted": "a better password"}, "The present password is wrong"),
    ],
)
async def test_what_is_wrong_comes_back_in_the_form(
    visitor: Visitor, fields: dict[str, str], said: str
) -> None:
    await post(visitor, "/account/password", wanted=PASSWORD)
    answer = await post(visitor, "/account/password", **fields)
    assert answer.status_code == 422
    assert said in Page(answer).text
    assert fields["wanted"] not in answer.text


async def test_another_browser_is_seen_and_signed_out(
    visitor: Visitor, db: Database, tmp_path: Path
) -> None:
    await post(visitor, "/account/password", wanted=PASSWORD)
    async with asking(parts_on(db, tmp_path / "blobs")) as other:
        other.headers.update({"origin": PUBLIC_URL, "user-agent": HOSTILE})
        await other.post("/sign-in", data=typed())
        page = await visitor.page("/account")
        assert HOSTILE in page.text
        assert HOSTILE not in page.answer.text
        (end,) = (link for link in actions(page) if link.endswith("/revoke"))
        assert (await post(visitor, end)).headers["location"] == "/account?done=session"
        assert (await other.get("/")).headers["location"] == "/sign-in"
    assert (await visitor.client.get("/")).status_code == 200


async def test_nobody_ends_the_sessions_of_another(
    visitor: Visitor, db: Database, tmp_path: Path
) -> None:
    async with asking(parts_on(db, tmp_path / "blobs")) as ben:
        await sign_in(db, ben, "ben@shelf.test")
        await ben.post("/account/sessions/1/revoke")
    assert (await visitor.client.get("/")).status_code == 200


async def test_signing_out_everywhere_ends_this_browser_s_session_too(visitor: Visitor) -> None:
    kept = visitor.client.cookies[COOKIE]
    answer = await post(visitor, "/account/sign-out-everywhere")
    assert answer.headers["location"] == "/sign-in"
    assert f'{COOKIE}=""' in answer.headers["set-cookie"]
    visitor.client.cookies.set(COOKIE, kept)
    assert (await visitor.client.get("/")).headers["location"] == "/sign-in"


async def test_guessing_is_answered_with_when_to_come_again(visitor: Visitor) -> None:
    await post(visitor, "/account/password", wanted=PASSWORD)
    for _ in range(10):
        answer = await post(visitor, "/sign-in", **typed("wrong horse battery"))
        assert answer.status_code == 422
    answer = await post(visitor, "/sign-in", **typed())
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 30
    assert "wrong too often" in Page(answer).text


async def test_a_hostile_name_is_shown_as_it_is_written(db: Database, tmp_path: Path) -> None:
    async with asking(parts_on(db, tmp_path / "blobs")) as client:
        await sign_in(db, client, f"{HOSTILE}@shelf.test")
        for link in ("/", "/account", "/projects/none"):
            answer = await client.get(link)
            assert HOSTILE.lower() in Page(answer).text.lower()
            assert HOSTILE.lower() not in answer.text.lower()


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/150 Safari/537.36 Edg/150", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18 Safari/605", "Safari on macOS"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/150 Safari/537.36", "Chrome on Android"),
        ("curl/8", "curl"),
        ("a robot", "a robot"),
        ("", "a browser that does not say which it is"),
    ],
)
def test_a_browser_is_named_as_its_owner_would(agent: str, words: str) -> None:
    assert agent_words(agent) == words


def actions(page: Page) -> list[str]:
    return [action for each in page.all("form") if (action := each.get("action"))]
