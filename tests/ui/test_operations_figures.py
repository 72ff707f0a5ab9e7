"""Figures, alarms and the leader on `/operations`."""

from collections import Counter
from datetime import timedelta

import pytest

from storyshelf.operations import alarm_store
from storyshelf.operations.figures import KindFigures
from storyshelf.operations.metric_store import Ended
from storyshelf.operations.overview import Overview
from storyshelf.projects import store as projects
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob, Outcome
from storyshelf.queue.store.bloat import OldTransaction
from storyshelf.ui.view_models.job_lines import Failures, Names
from storyshelf.ui.view_models.kinds import kind_line
from storyshelf.ui.view_models.operations import Listed, operations_page
from storyshelf.ui.view_models.throughput import HEIGHT_PX, Part, chart_of
from tests.builds.hand import ENVIRONMENT, Hand
from tests.fakes import EPOCH
from tests.queue.builders import enqueued, run
from tests.ui.busy import an_hour_of_work
from tests.ui.facts import audited, dismissal
from tests.ui.visitor import Page, Visitor

LANE = f"capture@{ENVIRONMENT}"


async def raised(hand: Hand, name: str) -> None:
    async with hand.db.transaction() as tx:
        await alarm_store.raise_alarm(tx, name, {})


async def test_an_hour_of_work_is_drawn_and_told(hand: Hand, visitor: Visitor) -> None:
    await an_hour_of_work(hand.db)
    page = await visitor.page("/operations")
    told = "1,999 attempts ended in these 60 whole minutes: 1,959 completed, 20 retried, 20 failed;"
    assert told in page.text
    drawn = Counter(each["class"] for each in page.all("rect") if "x" in each)
    assert drawn == {"way-completed": 57, "way-retried": 20, "way-failed": 20}
    legend = [each["class"] for each in page.all("rect") if "x" not in each]
    assert legend == ["way-completed", "way-retried", "way-failed"]
    assert "capture 11.2 653 20 0 0 35 ms 48 ms" in page.text
    assert "deliver 11.2 653 0 20 0" in page.text


async def test_who_leads_is_named_with_the_term(hand: Hand, visitor: Visitor) -> None:
    assert "No process leads" in (await visitor.page("/operations")).text
    await an_hour_of_work(hand.db)
    assert "node-7:4711:abc , in term 1" in (await visitor.page("/operations")).text


async def test_an_alarm_says_what_to_do_and_is_dismissed(hand: Hand, visitor: Visitor) -> None:
    await an_hour_of_work(hand.db)
    page = await visitor.page("/operations")
    assert "No consumer takes the jobs of lane capture@lost" in page.text
    assert "Start a consumer that does" in page.text
    assert "Something new 3 times" in page.text
    assert "<b>hostile</b>" in page.text
    said = dismissal(page, "something_new")
    answer = await visitor.client.post("/operations/alarms", data=said)
    assert (answer.status_code, answer.headers["location"]) == (303, "/operations")
    assert "Something new" not in (await visitor.page("/operations")).text
    assert await audited(hand.db, "alarm.dismiss") == [
        ("ada@shelf.test", {"alarm": "something_new", "times": 3})
    ]
    again = Page(await visitor.client.post("/operations/alarms", data=said))
    assert (again.status, "no such alarm any more" in again.text) == (404, True)


async def test_an_alarm_that_comes_again_is_seen_again(hand: Hand, visitor: Visitor) -> None:
    for _ in range(2):
        await raised(hand, "odd")
        page = await visitor.page("/operations")
        assert "Odd once" in page.text
        await visitor.client.post("/operations/alarms", data=dismissal(page, "odd"))


@pytest.mark.parametrize("is_new", [True, False])
async def test_an_alarm_that_came_again_since_the_page_was_loaded_is_not_dismissed(
    hand: Hand, visitor: Visitor, *, is_new: bool
) -> None:
    await raised(hand, "odd")
    said = dismissal(await visitor.page("/operations"), "odd")
    if is_new:  # it ended meanwhile, and so begins to count anew
        async with hand.db.transaction() as tx:
            await alarm_store.lower_alarm(tx, "odd")
    await raised(hand, "odd")
    answer = Page(await visitor.client.post("/operations/alarms", data=said))
    assert (answer.status, "came again since" in answer.text) == (409, True)
    assert "Odd" in (await visitor.page("/operations")).text
    assert await audited(hand.db, "alarm.dismiss") == []


@pytest.mark.parametrize(("minutes", "is_told"), [(7, True), (0.5, False)])
def test_a_transaction_that_stays_open_is_told_of(minutes: float, *, is_told: bool) -> None:
    oldest = OldTransaction(41, "psql", "idle in transaction", timedelta(minutes=minutes))
    found = Overview((), (), (), (), None, (), (), oldest)
    page = operations_page(found, Listed((), (), Failures((), ()), Names({}, {})), 20, EPOCH)
    told = "psql (process 41 of the database, idle in transaction) has had a transaction open"
    assert page.old_transaction.startswith(told) == is_told
    assert bool(page.old_transaction) == is_told


async def test_a_job_for_later_is_shown_with_when_it_is_due(hand: Hand, visitor: Visitor) -> None:
    await enqueued(hand.db, NewJob("plan", "plan", {}, delay=timedelta(minutes=5)))
    text = (await visitor.page("/operations")).text
    assert "deferred plan job" in text
    assert "in 4 min" in text


def test_nothing_is_drawn_of_nothing() -> None:
    assert chart_of([]) is None
    assert chart_of([Ended(EPOCH, 0, 0)]) is None


def test_a_minute_with_the_most_is_as_high_as_there_is_room_and_one_with_any_is_seen() -> None:
    minutes = [Ended(EPOCH, 1_000, 999, failed=1), Ended(EPOCH, 1, 0), Ended(EPOCH, 0, 0)]
    chart = chart_of(minutes)
    assert chart is not None
    assert [column.parts for column in chart.columns] == [
        [Part("failed", HEIGHT_PX - 2, 2), Part("completed", 0, HEIGHT_PX - 2)],
        [Part("other", HEIGHT_PX - 2, 2)],
        [],
    ]
    assert len({column.x for column in chart.columns}) == 3


async def test_what_was_given_back_or_cancelled_is_not_drawn_as_a_failure(
    hand: Hand, visitor: Visitor
) -> None:
    await an_hour_of_work(hand.db)
    await run(hand.db, "UPDATE job_metrics SET outcome = 'cancelled' WHERE outcome = 'retried'")
    await run(hand.db, "UPDATE job_metrics SET outcome = 'released' WHERE outcome = 'failed'")
    page = await visitor.page("/operations")
    assert "1,959 completed, 40 otherwise" in page.text
    assert "other: given back, cancelled or lost" in page.text
    assert {each["class"] for each in page.all("rect")} == {"way-completed", "way-other"}


def test_an_hour_without_a_failure_is_told_so() -> None:
    chart = chart_of([Ended(EPOCH, 2, 2), Ended(EPOCH, 0, 0)])
    assert chart is not None
    assert chart.words == (
        "2 attempts ended in these 2 whole minutes: all of them completed; at most 2 in a minute"
    )


@pytest.mark.parametrize(("rate", "told"), [(0.0, "0.0"), (0.03, "< 0.1"), (12.34, "12.3")])
def test_what_happened_seldom_is_not_told_as_never(rate: float, told: str) -> None:
    found = KindFigures("plan", {Outcome.COMPLETED: 2}, rate, None, None)
    assert kind_line(found).per_minute == told


async def test_jobs_that_a_cap_holds_back_are_told_of_with_why(
    hand: Hand, visitor: Visitor
) -> None:
    async with hand.db.transaction() as tx:
        await projects.set_options(tx, hand.project.id, {"max_running": 1})
    await enqueued(hand.db, *[NewJob("capture", LANE, {}, project_id=hand.project.id)] * 2)
    async with hand.db.transaction() as tx:
        assert await queue.let_in_parked(tx) == 1
    await hand.claim(LANE)
    page = await visitor.page("/operations")
    assert "Only parked jobs" in page.text
    assert "/operations/jobs?show=parked" in page.links
