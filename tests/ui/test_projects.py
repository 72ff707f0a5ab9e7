"""`/`: every project with where its newest build stands."""

from pathlib import Path
from urllib.parse import quote

from storyshelf.db.engine import Database
from storyshelf.projects import store as projects
from tests.app import asking, parts_on
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.visitor import Visitor


async def test_an_empty_server_says_what_to_do_next(visitor: Visitor) -> None:
    page = await visitor.page("/")
    assert "storyshelf project create" in page.text
    assert "storyshelf storybook-static" in page.text


async def test_the_shortened_address_of_a_project_leads_to_all_of_them(visitor: Visitor) -> None:
    answer = await visitor.client.get("/projects")
    assert (answer.status_code, answer.headers["location"]) == (307, "/")


async def test_a_project_is_shown_where_its_default_branch_stands(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run({"a--one": "red"})
    await hand.run({"a--one": "green"})
    await hand.open(["a--one"], branch="feature/x")
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


async def test_a_project_without_a_build_on_its_default_branch_says_so(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.open(["a--one"], branch="feature/x")
    page = await visitor.page("/")
    assert "No build on main yet build 1 feature/x" in page.text


async def test_what_waits_for_a_decision_is_counted_by_branch(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    for branch in ("a", "a", "b", "c"):
        await hand.run({"a--one": "green"}, branch=branch)
    assert "3 branches wait for a decision" in (await visitor.page("/")).text
    for branch in ("a", "b"):
        await hand.open(["a--one"], branch=branch)  # a newer build: the older is waited for no more
    assert "1 branch waits for a decision" in (await visitor.page("/")).text


async def test_projects_are_found_by_slug_and_name(hand: Hand, visitor: Visitor) -> None:
    async with hand.db.transaction() as tx:
        await projects.add(tx, "kit", "Design System", "main")
    for text, slugs in (("KIT", ["kit"]), ("design s", ["kit"]), ("hop", ["shop"]), ("%", [])):
        page = await visitor.page(f"/?q={quote(text)}")
        found = [link for link in page.links if link.startswith("/projects/")]
        assert found == [f"/projects/{slug}" for slug in slugs]


async def test_who_is_in_no_project_is_told_who_can_help(
    db: Database, hand: Hand, tmp_path: Path
) -> None:
    async with asking(parts_on(db, tmp_path)) as client:
        await sign_in(db, client, "cleo@shelf.test", roles={})
        page = await Visitor(client).page("/")
        assert "You are in no project yet" in page.text
        assert "/new-project" not in page.links
        assert (await client.get("/new-project")).status_code == 403
        assert (await client.post("/new-project", data={"slug": "x"})).status_code == 403
