"""How a member gets in: by a hand-over of the app, which becomes a pass of one host."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import httpx
import pytest

from storyshelf.auth.permissions import Role
from storyshelf.ids import SessionId
from storyshelf.projects.project import Project
from storyshelf.web.caller import COOKIE
from storyshelf.web.cookies import own_name
from storyshelf.web.hand_over import hand_over
from storyshelf.wiring import Parts
from tests.app import asking
from tests.people import sign_in
from tests.publishing.shelf import FRAME, OPENED, SHOP, SMALL, Shelf, enter


async def way_in(
    parts: Parts, project: Project, page: str = "/projects/shop/builds/1/storybook"
) -> str:
    """Return the hand-over that a member is given by the app."""
    async with asking(parts) as browser:
        await sign_in(parts.db, browser, "cleo@shelf.test", roles={project.id: Role.VIEWER})
        browser.cookies.set(own_name(COOKIE, parts.public_url), browser.cookies[COOKIE])
        answer = await browser.get(page, headers=OPENED)
    assert answer.status_code == 303
    return answer.headers["location"]


async def test_a_member_is_handed_over_and_sees_the_files(
    client: httpx.AsyncClient, parts: Parts, shop: Project
) -> None:
    link = await way_in(parts, shop, "/projects/shop/builds/1/storybook?path=/story/a--one")
    answer = await enter(client, link)
    assert answer.url == f"{SHOP}/builds/1/?path=%2Fstory%2Fa--one"
    assert answer.content == SMALL["index.html"]
    file = await client.get(f"{SHOP}/builds/1/iframe.html")
    assert (file.content, file.headers["cache-control"]) == (
        FRAME, "private, max-age=300",
    )  # fmt: skip


async def test_a_branch_is_handed_over_too(
    client: httpx.AsyncClient, shelf: Shelf, parts: Parts, shop: Project
) -> None:
    await shelf.publish(shop, branch="feature/ü")
    link = await way_in(parts, shop, "/projects/shop/branches/feature%2F%C3%BC/storybook")
    assert (await enter(client, link)).url == f"{SHOP}/builds/2/"


async def test_the_pass_is_a_cookie_that_no_script_and_no_other_host_sees(
    client: httpx.AsyncClient, parts: Parts, shop: Project
) -> None:
    answer = await client.get(await way_in(parts, shop), headers=OPENED)
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == "storyshelf_storybook"
    assert rest.partition("; ")[2] == "HttpOnly; Max-Age=43200; Path=/; SameSite=lax"


async def test_over_https_the_browser_itself_keeps_the_pass_to_its_host(
    parts: Parts, shop: Project
) -> None:
    secure = replace(parts, public_url="https://shelf.test")
    link = await way_in(secure, shop)
    async with asking(secure) as client:
        answer = await client.get(link, headers=OPENED)
    assert link.startswith(f"{SHOP.replace('http:', 'https:')}/enter?")
    assert answer.headers["set-cookie"].startswith("__Host-storyshelf_storybook=")
    assert answer.headers["set-cookie"].endswith("; SameSite=lax; Secure")


async def test_who_has_no_pass_is_shown_the_way_to_the_app(
    client: httpx.AsyncClient, shop: Project
) -> None:
    answer = await client.get(f"{SHOP}/builds/1/?path=/story/a--one")
    assert (answer.status_code, "for members of its project" in answer.text) == (401, True)
    way = "http://shelf.test/projects/shop/builds/1/storybook?path=%2Fstory%2Fa--one"
    assert f'href="{way}"' in answer.text


async def test_a_stranger_cannot_tell_which_projects_and_builds_exist(
    client: httpx.AsyncClient, shop: Project
) -> None:
    asked = [f"{SHOP}/builds/{number}/no.js" for number in (1, 2)]
    asked += ["http://none.content.shelf.test/builds/1/no.js"]
    answers = [await client.get(address) for address in asked]
    told = {each.text.replace("none", "shop").replace("/2/", "/1/") for each in answers}
    assert {each.status_code for each in answers} == {401}
    assert len(told) == 1
    for slug in ("shop", "none"):
        entrance = f"http://{slug}.content.shelf.test/enter?note=guessed"
        assert (await client.get(entrance)).status_code == 403


async def test_a_hand_over_of_one_project_leads_into_no_other(
    client: httpx.AsyncClient, shelf: Shelf, parts: Parts, shop: Project
) -> None:
    await shelf.publish(await shelf.project("other"))
    link = (await way_in(parts, shop)).replace("//shop.", "//other.")
    answer = await enter(client, link)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


async def test_a_pass_of_one_project_opens_no_other(
    client: httpx.AsyncClient, shelf: Shelf, parts: Parts, shop: Project
) -> None:
    await shelf.publish(await shelf.project("other"))
    answer = await client.get(await way_in(parts, shop), headers=OPENED)
    cookie = answer.headers["set-cookie"].partition(";")[0]
    other = "http://other.content.shelf.test/builds/1/"
    assert (await client.get(other, headers={"cookie": cookie})).status_code == 401


async def test_a_cookie_that_a_sibling_put_before_it_does_not_take_the_pass_away(
    client: httpx.AsyncClient, parts: Parts, shop: Project
) -> None:
    answer = await client.get(await way_in(parts, shop), headers=OPENED)
    cookie = answer.headers["set-cookie"].partition(";")[0]
    tossed = "storyshelf_storybook=e30.e30; storyshelf_storybook=; storyshelf_storybook=ä"
    client.cookies.clear()
    asked = [(b"cookie", f"{tossed}; {cookie}".encode())]
    assert (await client.get(f"{SHOP}/builds/1/", headers=asked)).status_code == 200


@pytest.mark.parametrize("note", ["", "e30.e30", ".", "e30", "ä.ö", "W10.W10", "a" * 5_000])
async def test_a_note_that_we_did_not_write_leads_nowhere(
    client: httpx.AsyncClient, shop: Project, note: str
) -> None:
    answer = await client.get(f"{SHOP}/enter", params={"note": note})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize(
    "story",
    ["https://evil.test/", "//evil.test/", "/\\evil.test", "\r\nLocation: //evil.test", "#@evil"],
)
async def test_a_hand_over_leads_nowhere_but_into_the_build(
    client: httpx.AsyncClient, parts: Parts, shop: Project, story: str
) -> None:
    page = f"/projects/shop/builds/1/storybook?{urlencode({'path': story})}"
    link = await way_in(parts, shop, page)
    assert link.startswith(f"{SHOP}/enter?note=")
    entered = await client.get(link, headers=OPENED)
    assert entered.headers["location"] == f"/builds/1/?{urlencode({'path': story})}"


async def test_a_page_of_another_origin_cannot_have_a_member_handed_over(
    parts: Parts, shop: Project
) -> None:
    async with asking(parts) as browser:
        await sign_in(parts.db, browser, "cleo@shelf.test", roles={shop.id: Role.VIEWER})
        framed = OPENED | {"sec-fetch-dest": "iframe"}
        answer = await browser.get("/projects/shop/builds/1/storybook", headers=framed)
    assert answer.status_code == 403


async def test_a_hand_over_that_is_a_minute_old_leads_nowhere(
    client: httpx.AsyncClient, parts: Parts, shop: Project
) -> None:
    made_at = parts.clock.now() - timedelta(seconds=60)
    note = hand_over(parts.secrets, shop.id, SessionId(1), "/builds/1/", made_at)
    answer = await client.get(f"{SHOP}/enter", params={"note": note}, headers=OPENED)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert "each link holds for a minute" in answer.text
