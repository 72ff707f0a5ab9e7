"""Names on `/operations` are only text, whoever made them up: lanes, kinds, consumers, alarms."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from storyshelf.builds import environment_store
from storyshelf.ids import ConsumerId, EnvironmentId, JobId
from storyshelf.operations import alarm_store, leader_store
from storyshelf.operations.unserved_work import PREFIX
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob, Retried
from tests.builds.hand import LEASE, Hand
from tests.ui.busy import METRICS
from tests.ui.facts import dismissal, strange_scripts
from tests.ui.visitor import Page, Visitor

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
LANE, KIND = f"capture@{HOSTILE}", f"plan{HOSTILE}"
SORTS = ["failed", "queued", "deferred", "running"]


@pytest.fixture
async def hostile(hand: Hand) -> JobId:
    """A queue in which every name is hostile; return a job that is held."""
    db, consumer = hand.db, ConsumerId(HOSTILE.replace("/", ""))
    environment = EnvironmentId(HOSTILE)
    async with db.transaction() as tx:
        await tx.execute(text(METRICS))
        await tx.execute(text("UPDATE job_metrics SET kind = kind || :it"), {"it": HOSTILE})
        await environment_store.know_environment(tx, environment, {"browser": HOSTILE})
        about = (HOSTILE, 1, HOSTILE, (LANE,), (KIND,), environment)
        await queue.register_consumer(tx, queue.Consumer(consumer, *about, slots={LANE: 1}))
        await alarm_store.raise_alarm(tx, f"{PREFIX}{LANE}/{KIND}", {HOSTILE: HOSTILE})
        await leader_store.take_lead(tx, HOSTILE, timedelta(hours=1))
        payload = {HOSTILE: HOSTILE}
        await queue.enqueue(tx, [NewJob(KIND, LANE, payload, dedupe_key=HOSTILE)])
    async with db.transaction() as tx:
        (lease,) = (await queue.claim(tx, consumer, {LANE: 1}, LEASE)).leases
        await queue.settle(tx, [(lease, Retried(timedelta(), HOSTILE))])
    async with db.transaction() as tx:
        await tx.execute(text("UPDATE jobs SET state = 'queued'"))
        later = NewJob(KIND, LANE, payload, delay=timedelta(hours=1))
        await queue.enqueue(tx, [NewJob(KIND, LANE, payload), later])
    async with db.transaction() as tx:
        (held,) = (await queue.claim(tx, consumer, {LANE: 1}, LEASE)).leases
    return held.job_id


def is_only_text(page: Page) -> bool:
    return not page.all("img") and not strange_scripts(page) and HOSTILE in page.text


async def test_hostile_names_are_only_text_on_the_page_of_all(
    hostile: JobId, visitor: Visitor
) -> None:
    page = await visitor.page("/operations")
    assert is_only_text(page)
    assert f"job-{hostile}" in page.ids


@pytest.mark.parametrize("show", SORTS[1:])
async def test_hostile_names_are_only_text_in_lists(
    hostile: JobId, visitor: Visitor, show: str
) -> None:
    assert hostile
    assert is_only_text(await visitor.page(f"/operations/jobs?show={show}"))


async def test_hostile_names_are_only_text_on_a_jobs_page(hostile: JobId, visitor: Visitor) -> None:
    assert is_only_text(await visitor.page(f"/operations/jobs/{hostile}"))


async def test_a_consumer_of_a_hostile_name_can_be_asked_to_stop(
    hostile: JobId, visitor: Visitor
) -> None:
    assert hostile
    page = await visitor.page("/operations")
    actions = {each["action"] or "" for each in page.all("form")}
    (stop,) = (action for action in actions if action.endswith("/stop"))
    assert (await visitor.client.post(stop)).status_code == 303
    assert "stops" in (await visitor.page("/operations")).text


async def test_a_hostile_alarm_can_be_dismissed(hostile: JobId, visitor: Visitor) -> None:
    assert hostile
    page = await visitor.page("/operations")
    (name,) = {each.get("value") for each in page.all("input") if each.get("name") == "name"}
    said = dismissal(page, name or "")
    answer = await visitor.client.post("/operations/alarms", data=said)
    assert answer.status_code == 303
    assert "No consumer takes" not in (await visitor.page("/operations")).text


STRANGE = [
    *("%00", "%ff", "..", "x" * 4_001, "%F0%9F%92%A9"),
    *("WzFd", "WyJcdWQ4MDAiLDAsMCwwXQ", "WyJcdTAwMDAiLDEwLDAsMF0", "W1tdLDAsMCwwXQ"),
    *("WyJhIiwxZTk5LDAsMF0", "WyJhIiwwLC0xLDBd", "WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzIzOjU5IiwxXQ"),
]


@pytest.mark.parametrize("show", [*SORTS, "parked"])
async def test_no_cursor_breaks_a_list(visitor: Visitor, show: str) -> None:
    for cursor in STRANGE:
        answer = await visitor.client.get(f"/operations/jobs?show={show}&after={cursor}")
        assert answer.status_code in {200, 400, 422}, (show, cursor)


@pytest.mark.parametrize("name", ["%00", "%ff", "a%2Fb", "%2e%2e", "x" * 5_000, "%ED%A0%80"])
async def test_no_consumers_name_breaks_the_page(visitor: Visitor, name: str) -> None:
    answer = await visitor.client.post(f"/operations/consumers/{name}/stop")
    assert answer.status_code in {404, 422}


@pytest.mark.parametrize("name", ["\0", "x" * 300, "x" * 301, ""])
async def test_no_alarms_name_breaks_the_page(visitor: Visitor, name: str) -> None:
    answer = await visitor.client.post("/operations/alarms", data={"name": name, "seen": name})
    assert answer.status_code in {400, 404, 422}
