"""What the build's page lets each do, and the routes behind it: cancel, capture again, shards."""

import pytest

from storyshelf.auth.permissions import Role
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.engine import Database
from storyshelf.queue.job import Failed
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.people import sign_in
from tests.ui.visitor import Page, Visitor

BUILD = "/projects/shop/builds/1"
REVIEWED = "/projects/shop/builds/2"
LOOK = {"a--one": "red", "b--one": "blue"}


def actions_of(page: Page) -> set[str]:
    return {str(form["action"]) for form in page.all("form") if form.get("method") == "post"}


async def a_failed_build(hand: Hand) -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("it broke"))
    return await hand.finalise(build)


@pytest.mark.parametrize(
    ("role", "doings"),
    [
        (Role.VIEWER, set()),
        (Role.DEVELOPER, {"cancel"}),
        (Role.REVIEWER, {"cancel", "decisions"}),
    ],
)
async def test_each_is_offered_what_the_role_may_do(
    hand: Hand, db: Database, visitor: Visitor, role: Role, doings: set[str]
) -> None:
    await hand.run({"a--one": "red"})
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK), shard_cost_ms=1)
    await hand.capture_one(LOOK)
    roles = {hand.project.id: role}
    await sign_in(db, visitor.client, "cleo@shelf.test", roles=roles)
    page = await visitor.page(REVIEWED)
    own = {link.removeprefix(f"{REVIEWED}/") for link in actions_of(page) if REVIEWED in link}
    assert {link for link in own if not link.startswith("shards")} == doings


async def test_a_build_is_cancelled_by_whom_its_page_says(hand: Hand, visitor: Visitor) -> None:
    build = await hand.upload(sorted(LOOK))
    answer = await visitor.client.post(f"{BUILD}/cancel")
    assert (answer.status_code, answer.headers["location"]) == (303, BUILD)
    assert (await hand.fresh(build)).state is BuildState.CANCELLED
    assert "Cancelled: cancelled by ada@shelf.test." in (await visitor.page(BUILD)).text


async def test_what_has_ended_is_not_cancelled_and_the_refusal_leads_back(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    assert f"{BUILD}/cancel" not in actions_of(await visitor.page(BUILD))
    answer = await visitor.client.post(f"{BUILD}/cancel")
    assert answer.status_code == 409
    assert BUILD in Page(answer).links


async def test_a_failed_build_is_captured_again(hand: Hand, visitor: Visitor) -> None:
    build = await a_failed_build(hand)
    assert f"{BUILD}/capture-again" in actions_of(await visitor.page(BUILD))
    answer = await visitor.client.post(f"{BUILD}/capture-again")
    assert answer.status_code == 303
    assert (await hand.fresh(build)).state is BuildState.QUEUED


async def test_a_failed_shard_is_retried_alone(hand: Hand, visitor: Visitor) -> None:
    build = await a_failed_build(hand)
    page = await visitor.page(BUILD)
    (retry,) = (link for link in actions_of(page) if link.endswith("/retry"))
    assert (await visitor.client.post(retry)).status_code == 303
    assert (await hand.fresh(build)).state is BuildState.CAPTURING
    assert [shard.state for shard in await hand.open_shards(build)] == [ShardState.OPEN]


async def test_an_open_shard_is_cancelled_alone(hand: Hand, visitor: Visitor) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    (cancel,) = (link for link in actions_of(await visitor.page(BUILD)) if "/shards/" in link)
    assert (await visitor.client.post(cancel)).status_code == 303
    assert await hand.open_shards(build) == []


@pytest.mark.parametrize("doing", ["cancel", "capture-again", "shards/1/retry", "shards/1/cancel"])
async def test_who_may_only_look_does_nothing_with_a_build(
    hand: Hand, db: Database, visitor: Visitor, doing: str
) -> None:
    build = await a_failed_build(hand)
    await sign_in(db, visitor.client, "cleo@shelf.test", roles={hand.project.id: Role.VIEWER})
    assert (await visitor.client.post(f"{BUILD}/{doing}")).status_code == 403
    assert await hand.fresh(build) == build


async def test_the_published_storybook_is_a_link_once_it_is_whole(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.open(sorted(LOOK))
    await hand.upload(sorted(LOOK))
    assert f"{BUILD}/storybook" not in (await visitor.page(BUILD)).links
    assert f"{REVIEWED}/storybook" in (await visitor.page(REVIEWED)).links


async def test_a_build_without_snapshots_says_what_to_do_next(hand: Hand, visitor: Visitor) -> None:
    await hand.open(sorted(LOOK))
    assert "Its files are still on their way" in (await visitor.page(BUILD)).text
    waits = await hand.upload(sorted(LOOK))
    assert "storyshelf-consumer" in (await visitor.page(REVIEWED)).text
    await hand.settle(await hand.claim("plan"), Failed("no stories"))
    assert (await hand.fresh(waits)).state is BuildState.FAILED
    assert "capture the build again" in (await visitor.page(REVIEWED)).text
