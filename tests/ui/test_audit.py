"""`/projects/{slug}/audit` and `/operations/audit`: who did what, the latest first."""

import re
from pathlib import Path

import pytest

from storyshelf.audit import store as audit
from storyshelf.audit.store import Event
from storyshelf.auth.permissions import Role
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.db.engine import Database
from tests.app import asking, parts_on
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.facts import strange_scripts, typed_into
from tests.ui.visitor import Visitor

AUDIT = "/projects/shop/audit"
HOSTILE = '"><script>alert(1)</script>'


async def tell(hand: Hand, *events: Event) -> None:
    async with hand.db.transaction() as tx:
        for event in events:
            await audit.record(tx, event)


async def test_what_was_done_is_told_with_who_and_details(hand: Hand, visitor: Visitor) -> None:
    build = await hand.open(["a--one"])
    await cancel_build(hand.db, hand.kinds, build.id, Cancel("ben@shelf.test", "a mistake"))
    detail = {"viewports": ["375px", "800px"], "keep_builds": None, "public_storybook": True}
    await tell(hand, Event("cleo", "project.set", hand.project.id, detail=detail))
    page = await visitor.page(AUDIT)
    assert "build.cancel by ben@shelf.test, shop, build 1 reason: a mistake" in page.text
    assert "viewports: 375px, 800px" in page.text
    assert "keep builds: none" in page.text
    assert "public storybook: yes" in page.text
    assert "/projects/shop/builds/1" in page.links


async def test_events_are_filtered_by_who_and_what(hand: Hand, visitor: Visitor) -> None:
    project = hand.project.id
    await tell(hand, Event("ben", "token.create", project), Event("cleo", "member.set", project))
    page = await visitor.page(f"{AUDIT}?actor=BEN&action=token")
    assert "token.create" in page.text
    assert "member.set" not in page.text
    assert typed_into(page) == {"actor": "BEN", "action": "token"}
    assert "Nothing is like that" in (await visitor.page(f"{AUDIT}?actor=%25")).text


async def test_pages_of_events_meet_and_keep_the_filter(hand: Hand, visitor: Visitor) -> None:
    events = [Event("ben", f"e.{number:03}", hand.project.id) for number in range(150)]
    await tell(hand, *events, Event("cleo", "e.999", hand.project.id))
    first = await visitor.page(f"{AUDIT}?actor=ben")
    second = await visitor.page(first.next_link() or "")
    seen = re.findall(r"e\.\d{3}", first.text) + re.findall(r"e\.\d{3}", second.text)
    assert seen == [f"e.{number:03}" for number in range(149, -1, -1)]
    assert second.next_link() is None


async def test_projects_and_the_server_have_their_own(hand: Hand, visitor: Visitor) -> None:
    await tell(hand, Event("ben", "user.add"), Event("ben", "member.set", hand.project.id))
    assert "user.add" not in (await visitor.page(AUDIT)).text
    page = await visitor.page("/operations/audit")
    assert "user.add" in page.text
    assert "member.set" not in page.text


@pytest.mark.parametrize("cursor", ["x", "WyJub3ciLCAxXQ", "WyIyMDMwLTAxLTAxIiwgMV0"])
async def test_a_cursor_that_no_page_gave_is_refused(
    hand: Hand, visitor: Visitor, cursor: str
) -> None:
    await visitor.page(f"{AUDIT}?after={cursor}", status=422)


async def test_nothing_of_an_event_becomes_markup(hand: Hand, visitor: Visitor) -> None:
    detail = {HOSTILE: HOSTILE, "list": [HOSTILE]}
    await tell(hand, Event(HOSTILE, HOSTILE, hand.project.id, detail=detail))
    page = await visitor.page(AUDIT)
    assert strange_scripts(page) == []
    assert page.text.count(HOSTILE) == 5


async def test_a_project_where_nothing_was_done_says_so(hand: Hand, visitor: Visitor) -> None:
    assert "Nothing was done yet" in (await visitor.page(AUDIT)).text


async def test_the_audit_is_for_admins(db: Database, hand: Hand, tmp_path: Path) -> None:
    async with asking(parts_on(db, tmp_path)) as client:
        await sign_in(db, client, "cleo@shelf.test", roles={hand.project.id: Role.REVIEWER})
        assert (await client.get(AUDIT)).status_code == 403
