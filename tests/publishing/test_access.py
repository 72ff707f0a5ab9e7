"""How long a hand-over and a pass hold."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from storyshelf.auth import session_store, user_store
from storyshelf.auth.permissions import Role
from storyshelf.auth.secrets import Secrets
from storyshelf.auth.session_store import NewSession
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import ProjectId, SessionId, UserId
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.publishing.access import BELIEVED_S, LIVES, PASS, Doorkeeper
from storyshelf.web.hand_over import HAND_OVER, hand_over, parse_hand_over, read_note, signed_note
from tests.fakes import FakeClock
from tests.people import AN_HOUR

SECRETS = Secrets(b"k" * 32)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def door(clock: FakeClock) -> Doorkeeper:
    return Doorkeeper(SECRETS, clock)


@pytest.fixture
async def tx(db: Database) -> AsyncIterator[Tx]:
    async with db.transaction() as tx:
        yield tx


@pytest.fixture
async def shop(tx: Tx) -> Project:
    return await projects.add(tx, "shop", "Shop", "main")


async def a_member(tx: Tx, project: Project, role: Role = Role.VIEWER) -> tuple[UserId, SessionId]:
    user_id = await user_store.add_user(tx, "cleo@shelf.test", "Cleo")
    assert user_id is not None
    await user_store.set_role(tx, project.id, user_id, role)
    session = NewSession(user_id, b"s" * 32, "a test's", AN_HOUR)
    return user_id, await session_store.add_session(tx, session)


async def test_a_hand_over_holds_for_a_minute(clock: FakeClock) -> None:
    note = hand_over(SECRETS, ProjectId(1), SessionId(2), "/builds/3/", clock.now())
    await clock.advance(59)
    handed = parse_hand_over(SECRETS, note, clock.now())
    assert handed is not None
    assert (handed.project_id, handed.session_id, handed.target) == (1, 2, "/builds/3/")
    await clock.advance(1)
    assert parse_hand_over(SECRETS, note, clock.now()) is None


def test_a_note_says_what_it_was_signed_for_and_to_nobody_elses_key() -> None:
    note = signed_note(SECRETS, HAND_OVER, [1, 2, 3, "/builds/3/"])
    assert read_note(SECRETS, HAND_OVER, note) == [1, 2, 3, "/builds/3/"]
    assert read_note(SECRETS, PASS, note) is None
    assert read_note(Secrets(b"o" * 32), HAND_OVER, note) is None


@pytest.mark.parametrize("position", [0, 5, 20, -1, -20])
def test_a_note_that_was_changed_is_not_ours(position: int) -> None:
    note = signed_note(SECRETS, HAND_OVER, [1, 2, 3, "/builds/3/"])
    other = "A" if note[position] != "A" else "z"
    changed = note[:position] + other + note[position:][1:]
    assert read_note(SECRETS, HAND_OVER, changed) is None


async def test_a_members_pass_holds_for_half_a_day(
    tx: Tx, shop: Project, door: Doorkeeper, clock: FakeClock
) -> None:
    _, session_id = await a_member(tx, shop)
    cookies = [door.new_pass(shop.id, session_id)]
    await clock.advance(LIVES - timedelta(seconds=1))
    assert await door.lets_in(tx, shop, cookies)
    await clock.advance(1)
    assert not await door.lets_in(tx, shop, cookies)


async def test_who_signs_out_is_out_within_seconds(
    tx: Tx, shop: Project, door: Doorkeeper, clock: FakeClock
) -> None:
    user_id, session_id = await a_member(tx, shop)
    cookies = [door.new_pass(shop.id, session_id)]
    assert await door.lets_in(tx, shop, cookies)
    await session_store.revoke_session(tx, user_id, session_id)
    await clock.advance(BELIEVED_S)
    assert not await door.lets_in(tx, shop, cookies)


async def test_a_pass_of_somebody_who_is_no_member_of_the_project_holds_nothing(
    tx: Tx, shop: Project, door: Doorkeeper
) -> None:
    other = await projects.add(tx, "other", "Other", "main")
    _, session_id = await a_member(tx, other)
    assert not await door.lets_in(tx, shop, [door.new_pass(shop.id, session_id)])


async def test_a_pass_of_a_disabled_user_holds_nothing(
    tx: Tx, shop: Project, door: Doorkeeper
) -> None:
    user_id, session_id = await a_member(tx, shop)
    await user_store.disable(tx, user_id)
    assert not await door.lets_in(tx, shop, [door.new_pass(shop.id, session_id)])


async def test_of_a_hundred_files_the_session_is_asked_about_once(
    db: Database, shop: Project, tx: Tx, door: Doorkeeper
) -> None:
    user_id, session_id = await a_member(tx, shop)
    cookies = [door.new_pass(shop.id, session_id)]
    assert await door.lets_in(tx, shop, cookies)
    await session_store.revoke_session(tx, user_id, session_id)
    assert await door.lets_in(tx, shop, cookies)


async def test_a_public_storybook_needs_no_pass(tx: Tx, shop: Project, door: Doorkeeper) -> None:
    assert not await door.lets_in(tx, shop, [])
    await projects.set_options(tx, shop.id, {"public_storybook": True})
    assert await door.lets_in(tx, await projects.by_id(tx, shop.id), [])
