"""Consumers on `/operations`: their slots, and what can be asked of them."""

import pytest

from storyshelf.builds import environment_store
from storyshelf.queue import store as queue
from storyshelf.queue.store import ConsumerState
from storyshelf.queue.unserved import SILENT_FOR
from tests.builds.hand import CONSUMER, ENVIRONMENT, Hand
from tests.ui.facts import audited
from tests.ui.visitor import Page, Visitor

ASK = "/operations/consumers/by%20hand"


async def register(hand: Hand, state: ConsumerState = ConsumerState.RUNNING) -> None:
    about = ("node-7", 4711, "1.2.3", ("build", "plan"), ("plan",), ENVIRONMENT)
    async with hand.db.transaction() as tx:
        await environment_store.know_environment(tx, ENVIRONMENT, {})
        await queue.register_consumer(
            tx, queue.Consumer(CONSUMER, *about, slots={"build": 1, "plan": 2})
        )
        await queue.mark_consumer(tx, CONSUMER, state)


async def state_of(hand: Hand) -> str:
    async with hand.db.transaction() as tx:
        (one,) = await queue.live_consumers(tx, SILENT_FOR)
    return one.state


def asks(page: Page) -> set[str]:
    actions = [each["action"] or "" for each in page.all("form")]
    return {action.rpartition("/")[2] for action in actions if "/consumers/" in action}


async def test_slots_are_shown_used_and_free(hand: Hand, visitor: Visitor) -> None:
    await register(hand)
    await hand.upload(["a--one"])
    await hand.claim("plan")
    text = (await visitor.page("/operations")).text
    assert "build 0 of 1 plan 1 of 2" in text


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        (ConsumerState.RUNNING, {"quiet", "stop"}),
        (ConsumerState.QUIET, {"resume", "stop"}),
        (ConsumerState.STOPPING, set()),
    ],
)
async def test_only_what_can_be_asked_is_offered(
    hand: Hand, visitor: Visitor, state: ConsumerState, offered: set[str]
) -> None:
    await register(hand, state)
    assert asks(await visitor.page("/operations")) == offered


async def test_a_consumer_rests_takes_work_again_and_stops(hand: Hand, visitor: Visitor) -> None:
    await register(hand)
    states = []
    for wish in ("quiet", "resume", "stop"):
        answer = await visitor.client.post(f"{ASK}/{wish}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/operations")
        states.append(await state_of(hand))
    assert states == ["quiet", "running", "stopping"]
    for wish in ("quiet", "resume", "stop"):
        assert await audited(hand.db, f"consumer.{wish}") == [
            ("ada@shelf.test", {"consumer": CONSUMER})
        ]


async def test_what_cannot_be_asked_is_refused_with_the_reason(
    hand: Hand, visitor: Visitor
) -> None:
    await register(hand, ConsumerState.STOPPING)
    page = Page(await visitor.client.post(f"{ASK}/resume"))
    assert (page.status, "it is stopping" in page.text) == (409, True)
    assert "/operations" in page.links


async def test_a_consumer_that_has_gone_is_told_of(visitor: Visitor) -> None:
    page = Page(await visitor.client.post(f"{ASK}/stop"))
    assert (page.status, "No such consumer" in page.text) == (404, True)
    assert (await visitor.client.post(f"{ASK}/dance")).status_code == 422


@pytest.mark.parametrize("name", ["%00", "%FF", "a%2Fb", "x" * 2_000])
async def test_a_name_that_no_consumer_has_is_nobody(visitor: Visitor, name: str) -> None:
    answer = await visitor.client.post(f"/operations/consumers/{name}/stop")
    assert answer.status_code in {404, 422}
