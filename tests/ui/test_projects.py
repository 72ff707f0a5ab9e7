"""`/`: every project with where its newest build stands."""

from storyshelf.projects import store as projects
from tests.builds.hand import Hand
from tests.ui.visitor import Visitor


async def test_an_empty_server_says_what_to_do_next(visitor: Visitor) -> None:
    page = await visitor.page("/")
    assert "storyshelf project create" in page.text
    assert "storyshelf storybook-static" in page.text


async def test_the_shortened_address_of_a_project_leads_to_all_of_them(visitor: Visitor) -> None:
    answer = await visitor.client.get("/projects")
    assert (answer.status_code, answer.headers["location"]) == (307, "/")


async def test_a_project_is_shown_with_its_newest_build(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    await hand.run({"a--one": "green"})
    page = await visitor.page("/")
    assert "/projects/shop" in page.links
    assert "build 2" in page.text
    assert "pending" in page.text
    assert "1 changed" in page.text
    assert "accepted" not in page.text


async def test_a_project_without_a_build_is_shown_as_such(hand: Hand, visitor: Visitor) -> None:
    assert "No build yet" in (await visitor.page("/")).text


async def test_projects_are_paged_without_gap_or_overlap(visitor: Visitor, hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        for number in range(60):
            await projects.add(tx, f"p-{number:02}", f"Project {number}", "main")
    first = await visitor.page("/")
    link = first.next_link()
    assert link is not None
    second = await visitor.page(link)
    seen = [each for page in (first, second) for each in page.links if "/projects/" in each]
    assert seen == [f"/projects/p-{number:02}" for number in range(60)] + ["/projects/shop"]
    assert second.next_link() is None


async def test_the_name_of_a_project_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    async with hand.db.transaction() as tx:
        await projects.add(tx, "evil", "<img src=x onerror=alert(1)>", "main")
    page = await visitor.page("/")
    assert page.all("img") == []
    assert "<img src=x onerror=alert(1)>" in page.text
