"""`/projects/{slug}/settings/delete`: a project goes when its slug is typed."""

import httpx

from storyshelf.projects import store as projects
from tests.builds.hand import Hand
from tests.ui.facts import audited, strange_scripts
from tests.ui.visitor import Page, Visitor

DELETE = "/projects/shop/settings/delete"


async def send(visitor: Visitor, slug: str) -> httpx.Response:
    return await visitor.client.post(DELETE, data={"slug": slug})


async def test_the_form_says_what_goes(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    page = await visitor.page(DELETE)
    assert "its 1 build, pictures, tokens" in page.text
    assert "Type shop to confirm" in page.text


async def test_another_slug_deletes_nothing(hand: Hand, visitor: Visitor) -> None:
    for typed in ("", "Shop", "other", "<script>alert(1)</script>"):
        page = Page(await send(visitor, typed))
        assert page.status == 422
        assert "This is not shop." in page.text
        assert strange_scripts(page) == []
    await visitor.page("/projects/shop")
    assert await audited(hand.db, "project.delete") == []


async def test_the_slug_deletes_the_project_with_all_of_it(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    await hand.upload(["a--one"])  # a build that is still worked on
    answer = await send(visitor, " shop ")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    await visitor.page("/projects/shop", status=404)
    async with hand.db.transaction() as tx:
        made = await projects.add(tx, "shop", "Another", "main")  # the slug is free
    assert made.id != hand.project.id
    assert [actor for actor, _ in await audited(hand.db, "project.delete")] == ["ada@shelf.test"]
    assert "No build yet" in (await visitor.page("/projects/shop")).text
