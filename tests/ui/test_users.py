"""`/operations/users`: who signs in here, and how they begin."""

import re

import pytest

from storyshelf.auth import sign_in as door
from storyshelf.auth import user_store
from storyshelf.auth.sign_in import UsedLinkError
from storyshelf.auth.user_store import User
from storyshelf.ids import UserId
from tests.app import parts_on
from tests.builds.hand import Hand
from tests.ui.facts import audited, strange_scripts, typed_into
from tests.ui.visitor import Page, Visitor

USERS = "/operations/users"
DAN = {"email": "Dan@Shelf.test", "name": "Dan", "is_admin": ""}


async def user(hand: Hand, email: str = "dan@shelf.test") -> User:
    async with hand.db.transaction() as tx:
        return await user_store.user_by_email(tx, email)


def link_in(page: Page) -> str:
    (link,) = set(re.findall(r"http://shelf\.test/sign-in/[\w-]{43}", page.text))
    return str(link)


async def test_a_user_is_added_with_a_link_that_is_shown_once(hand: Hand, visitor: Visitor) -> None:
    answer = await visitor.client.post(USERS, data=DAN)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    link = link_in(Page(answer))
    assert "/sign-in/" not in (await visitor.page(USERS)).text
    assert "dan@shelf.test" in (await visitor.page(link)).text
    made = await user(hand)
    assert (made.name, made.is_admin, made.has_password) == ("Dan", False, False)
    assert await audited(hand.db, "user.add") == [
        ("ada@shelf.test", {"user": "dan@shelf.test", "is_admin": False})
    ]
    assert link.rsplit("/", 1)[1] not in str(await audited(hand.db, "user.link"))


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"email": "dan"}, "email", "That is not an email address"),
        ({"email": "ada@shelf.test"}, "email", "There is a user of that address already"),
        ({"name": "x" * 201}, "name", "A name has 1 to 200 characters"),
        ({"email": '"><script>@x'}, "", ""),
    ],
)
async def test_wrong_input_comes_back_with_the_error_beside_it(
    hand: Hand, visitor: Visitor, fields: dict[str, str], field: str, words: str
) -> None:
    page = Page(await visitor.client.post(USERS, data=DAN | fields))
    assert words in page.text
    assert strange_scripts(page) == []
    if field:
        assert page.status == 422
        assert page.by_id(field)["aria-invalid"] == "true"
        assert typed_into(page)["name"] == (DAN | fields)["name"]
        assert await audited(hand.db, "user.add") == []


async def test_a_user_is_shut_out_and_let_in_again(hand: Hand, visitor: Visitor) -> None:
    await visitor.client.post(USERS, data=DAN)
    own = f"{USERS}/{(await user(hand)).id}"
    answer = await visitor.client.post(own, data={"change": "disable"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{USERS}?done=disabled")
    assert (await user(hand)).disabled_at is not None
    await visitor.client.post(own, data={"change": "enable"})
    assert (await user(hand)).disabled_at is None
    told = [await audited(hand.db, f"user.{what}") for what in ("disable", "enable")]
    assert [len(one) for one in told] == [1, 1]


async def test_a_user_becomes_an_administrator_and_no_more(hand: Hand, visitor: Visitor) -> None:
    await visitor.client.post(USERS, data=DAN)
    own = f"{USERS}/{(await user(hand)).id}"
    await visitor.client.post(own, data={"change": "make_admin"})
    assert (await user(hand)).is_admin
    await visitor.client.post(own, data={"change": "end_admin"})
    assert not (await user(hand)).is_admin


@pytest.mark.parametrize("change", ["disable", "end_admin"])
async def test_the_last_administrator_stays_one(hand: Hand, visitor: Visitor, change: str) -> None:
    ada = (await user(hand, "ada@shelf.test")).id
    page = Page(await visitor.client.post(f"{USERS}/{ada}", data={"change": change}))
    assert page.status == 409
    assert "ada@shelf.test is the last server administrator" in page.text
    assert USERS in page.links


async def test_a_new_link_ends_the_one_before(
    hand: Hand, visitor: Visitor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = link_in(Page(await visitor.client.post(USERS, data=DAN)))
    own = f"{USERS}/{(await user(hand)).id}"
    second = link_in(Page(await visitor.client.post(f"{own}/link")))
    parts = parts_on(hand.db, tmp_path_factory.mktemp("blobs"))
    with pytest.raises(UsedLinkError):
        await door.whom(parts.door, first.rsplit("/", 1)[1])
    assert (await door.whom(parts.door, second.rsplit("/", 1)[1])).email == "dan@shelf.test"


async def test_a_user_that_is_not_there_is_an_error(visitor: Visitor) -> None:
    answer = await visitor.client.post(f"{USERS}/999", data={"change": "disable"})
    assert answer.status_code == 404


async def test_users_are_paged_and_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    ids: list[UserId | None] = []
    async with hand.db.transaction() as tx:
        for number in range(60):
            email = f"u-{number:02}@shelf.test"
            ids.append(await user_store.add_user(tx, email, "<img src=x>"))
    first = await visitor.page(USERS)
    second = await visitor.page(first.next_link() or "")
    assert first.all("img") == []
    assert "u-00@shelf.test" in first.text
    assert "u-59@shelf.test" in second.text
    assert second.next_link() is None
