"""Signing in with a real browser: by keyboard, without script, with a script for a name."""

import pytest
from playwright.async_api import Page, expect

from storyshelf.auth import user_store, users
from storyshelf.auth.passwords import Passwords
from tests.people import CHEAP
from tests.ui.browsing import Browsing
from tests.ui.test_sign_in import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

HOSTILE = "<img src=x onerror=\"document.title='taken over'\">"


@pytest.fixture
async def link(here: Browsing) -> str:
    """A link for Ada, whose name is not nice and who has a password."""
    kept = await Passwords(CHEAP).hash_of(PASSWORD)
    async with here.db.transaction() as tx:
        ada = await users.add(tx, "a test", users.parse_user("ada@shelf.test", HOSTILE))
        await user_store.set_password(tx, ada.id, kept)
        return f"/sign-in/{await users.link(tx, 'a test', ada)}"


async def stranger(here: Browsing, *, scripts: bool = True) -> Page:
    context = await here.browser.new_context(base_url=here.address, java_script_enabled=scripts)
    here.stack.push_async_callback(context.close)
    page = await context.new_page()
    page.set_default_timeout(10_000)
    return page


@pytest.mark.parametrize("scripts", ["on", "off"])
async def test_a_person_signs_in_by_keyboard_and_is_where_they_wanted_to_be(
    here: Browsing, link: str, scripts: str
) -> None:
    page = await stranger(here, scripts=scripts == "on")
    await page.goto("/account")
    await page.wait_for_url("**/sign-in?next=%2Faccount")
    await expect(page.get_by_label("Email")).to_be_focused()
    await page.keyboard.type("ada@shelf.test")
    await page.keyboard.press("Tab")
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/account")
    assert HOSTILE in await page.inner_text("main h1")


async def test_a_link_is_not_used_up_by_what_looks_at_it_first(here: Browsing, link: str) -> None:
    scanner, person = await stranger(here), await stranger(here)
    await scanner.goto(link)
    await scanner.reload()
    await person.goto(link)
    await person.wait_for_selector("main button:focus")  # which it is given after the load
    await person.keyboard.press("Enter")
    await person.wait_for_url(f"{here.address}/")
    assert await person.title() == "Projects · storyshelf"
    await scanner.click("main button")
    assert "does not work any more" in await scanner.inner_text("main")


async def test_a_name_that_is_a_script_is_only_a_name(here: Browsing, link: str) -> None:
    page = await stranger(here)
    await page.goto(link)
    await page.click("main button")
    for path in ("/", "/account"):
        await page.goto(path)
        assert await page.title() != "taken over"
        assert await page.locator("img").count() == 0
