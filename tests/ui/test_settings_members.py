"""`/projects/{slug}/settings/members`: who is what in a project."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storyshelf.auth import user_store
from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Database
from storyshelf.ids import UserId
from tests.app import asking, parts_on
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.facts import audited, typed_into
from tests.ui.visitor import Page, Visitor

MEMBERS = "/projects/shop/settings/members"


async def add_user(hand: Hand, email: str, role: Role | None = None) -> UserId:
    async with hand.db.transaction() as tx:
        user_id = await user_store.add_user(tx, email, email.partition("@")[0].title())
        assert user_id is not None
        if role is not None:
            await user_store.set_role(tx, hand.project.id, user_id, role)
    return user_id


async def role_of(hand: Hand, user_id: UserId) -> Role | None:
    async with hand.db.transaction() as tx:
        return await user_store.role_in(tx, hand.project.id, user_id)


@pytest.fixture
async def admin(db: Database, hand: Hand, tmp_path: Path) -> AsyncIterator[tuple[Visitor, UserId]]:
    """Somebody who manages the shop and nothing else."""
    async with asking(parts_on(db, tmp_path)) as client:
        roles = {hand.project.id: Role.ADMIN}
        user_id = await sign_in(db, client, "cleo@shelf.test", roles=roles)
        yield Visitor(client), user_id


async def test_a_user_becomes_a_member(hand: Hand, visitor: Visitor) -> None:
    user_id = await add_user(hand, "dan@shelf.test")
    data = {"email": " Dan@Shelf.test ", "role": "reviewer"}
    answer = await visitor.client.post(MEMBERS, data=data)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{MEMBERS}?done=set")
    assert await role_of(hand, user_id) is Role.REVIEWER
    assert "dan@shelf.test" in (await visitor.page(MEMBERS)).text
    detail = {"user": "dan@shelf.test", "role": "reviewer"}
    assert await audited(hand.db, "member.set") == [("ada@shelf.test", detail)]


@pytest.mark.parametrize(
    ("email", "role", "words"),
    [
        ("nobody@shelf.test", "viewer", "There is no user nobody@shelf.test. Operations, Users"),
        ("nobody", "viewer", "That is not an email address"),
        ("<b>@x", "viewer", "There is no user <b>@x"),
        ("ada@shelf.test", "king", "There is no such role"),
    ],
)
async def test_wrong_input_comes_back_with_what_to_do(
    hand: Hand, visitor: Visitor, email: str, role: str, words: str
) -> None:
    page = Page(await visitor.client.post(MEMBERS, data={"email": email, "role": role}))
    assert page.status == 422
    assert words in page.text
    assert typed_into(page)["email"] == email
    assert page.all("b") == []
    assert await audited(hand.db, "member.set") == []


async def test_a_role_is_changed_and_a_member_removed(hand: Hand, visitor: Visitor) -> None:
    user_id = await add_user(hand, "dan@shelf.test", Role.VIEWER)
    await visitor.client.post(f"{MEMBERS}/{user_id}", data={"role": "admin"})
    assert await role_of(hand, user_id) is Role.ADMIN
    answer = await visitor.client.post(f"{MEMBERS}/{user_id}/remove")
    assert answer.headers["location"] == f"{MEMBERS}?done=removed"
    assert await role_of(hand, user_id) is None
    assert await audited(hand.db, "member.remove") == [
        ("ada@shelf.test", {"user": "dan@shelf.test"})
    ]


@pytest.mark.parametrize("way", ["", "/remove"])
async def test_the_last_admin_cannot_give_up_by_accident(
    hand: Hand, admin: tuple[Visitor, UserId], way: str
) -> None:
    visitor, own = admin
    answer = await visitor.client.post(f"{MEMBERS}/{own}{way}", data={"role": "viewer"})
    page = Page(answer)
    assert page.status == 409
    assert "the last admin of the project" in page.text
    assert MEMBERS in page.links
    assert await role_of(hand, own) is Role.ADMIN


@pytest.mark.parametrize("way", ["", "/remove"])
async def test_whoever_is_no_member_is_not_found_by_a_number(
    hand: Hand, admin: tuple[Visitor, UserId], way: str
) -> None:
    """Else an admin of one project could count up to everybody's address."""
    visitor, _ = admin
    stranger = await add_user(hand, "dan@shelf.test")
    answer = await visitor.client.post(f"{MEMBERS}/{stranger}{way}", data={"role": "viewer"})
    assert answer.status_code == 404
    assert "dan@shelf.test" not in answer.text
    assert await role_of(hand, stranger) is None


async def test_an_admin_beside_another_can_go(hand: Hand, admin: tuple[Visitor, UserId]) -> None:
    visitor, own = admin
    await add_user(hand, "dan@shelf.test", Role.ADMIN)
    answer = await visitor.client.post(f"{MEMBERS}/{own}/remove")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    await visitor.page("/projects/shop", status=404)


async def test_a_disabled_admin_is_no_other_admin(
    hand: Hand, admin: tuple[Visitor, UserId]
) -> None:
    visitor, own = admin
    other = await add_user(hand, "dan@shelf.test", Role.ADMIN)
    async with hand.db.transaction() as tx:
        await user_store.disable(tx, other)
    assert (await visitor.client.post(f"{MEMBERS}/{own}/remove")).status_code == 409


async def test_a_server_administrator_needs_no_other_admin(hand: Hand, visitor: Visitor) -> None:
    user_id = await add_user(hand, "dan@shelf.test", Role.ADMIN)
    await visitor.client.post(f"{MEMBERS}/{user_id}/remove")
    assert await role_of(hand, user_id) is None
    assert "Nobody is a member yet" in (await visitor.page(MEMBERS)).text


async def test_members_are_paged_by_their_address(hand: Hand, visitor: Visitor) -> None:
    for number in range(60):
        await add_user(hand, f"m-{number:02}@shelf.test", Role.VIEWER)
    first = await visitor.page(MEMBERS)
    second = await visitor.page(first.next_link() or "")
    for number in range(60):
        name = f"m-{number:02}@shelf.test"
        assert (name in first.text) is (number < 50)
        assert (name in second.text) is (number >= 50)
    assert second.next_link() is None
