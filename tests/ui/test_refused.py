"""Who may not open a page is told who can help."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from storyshelf.auth import user_store, users
from storyshelf.auth.permissions import Role
from storyshelf.auth.user_store import User
from tests.app import asking, parts_on
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.visitor import Page


@pytest.fixture
async def vera(hand: Hand, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Looks at the shop's builds, and may do no more."""
    async with asking(parts_on(hand.db, tmp_path / "blobs")) as client:
        await sign_in(hand.db, client, "vera@shelf.test", roles={hand.project.id: Role.VIEWER})
        yield client


async def join(hand: Hand, email: str, role: Role | None) -> User:
    """Make a member with the role; without one, a server administrator."""
    async with hand.db.transaction() as tx:
        user = await users.add(tx, "a test", users.parse_user(email, is_admin=role is None))
        if role is not None:
            await users.set_role(tx, "a test", hand.project.id, user, role)
    return user


async def test_a_page_for_admins_names_the_projects_own_before_the_servers(
    hand: Hand, vera: httpx.AsyncClient
) -> None:
    await join(hand, "ada@shelf.test", None)
    await join(hand, "dora@shelf.test", Role.ADMIN)
    await join(hand, "emil@shelf.test", Role.DEVELOPER)
    gone = await join(hand, "gone@shelf.test", Role.ADMIN)
    async with hand.db.transaction() as tx:
        await user_store.disable(tx, gone.id)
    answer = await vera.get("/projects/shop/settings")
    assert answer.status_code == 403
    assert "Ask dora@shelf.test or ada@shelf.test for the role admin." in Page(answer).text


async def test_a_page_for_the_server_names_its_administrators_only(
    hand: Hand, vera: httpx.AsyncClient
) -> None:
    await join(hand, "ada@shelf.test", None)
    await join(hand, "dora@shelf.test", Role.ADMIN)
    said = Page(await vera.get("/operations")).text
    assert "Ask ada@shelf.test for the rights of a server administrator." in said
    assert "dora" not in said


async def test_where_nobody_is_left_it_says_who_it_would_be(
    hand: Hand, vera: httpx.AsyncClient
) -> None:
    assert "Ask a server administrator" in Page(await vera.get("/operations")).text


async def test_who_is_no_member_learns_nothing_of_the_project(
    hand: Hand, vera: httpx.AsyncClient
) -> None:
    await join(hand, "ada@shelf.test", None)
    async with hand.db.transaction() as tx:
        gone = await user_store.user_by_email(tx, "vera@shelf.test")
        await users.end_role(tx, "a test", hand.project.id, gone)
    here = Page(await vera.get("/projects/shop"))
    nowhere = Page(await vera.get("/projects/nowhere"))
    assert here.status == nowhere.status == 404
    assert here.text.replace("shop", "nowhere") == nowhere.text
    assert "@" not in here.text.replace("vera@shelf.test", "")
