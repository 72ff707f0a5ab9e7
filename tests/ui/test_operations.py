"""`/operations`: what waits, who works on what, what failed, and what can be done about it."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from storyshelf.auth.permissions import Role
from storyshelf.builds import environment_store
from storyshelf.builds.build import Build, BuildState
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Failed, NewJob, Outcome, Priority
from storyshelf.web.paging import cursor_of, moment_cursor
from tests.app import asking, parts_on
from tests.builds.facts import live_jobs
from tests.builds.hand import CAPTURE_LANE, CONSUMER, ENVIRONMENT, Hand
from tests.fakes import EPOCH
from tests.people import sign_in
from tests.ui.facts import audited, strange_scripts
from tests.ui.visitor import Page, Visitor

HOSTILE = "<img src=x onerror=alert(1)>"
LOOK = {"a--one": "red", "b--one": "blue"}
JOB_LINK = re.compile(r"/operations/jobs/\d+$")


async def register(hand: Hand, consumer_id: ConsumerId, lanes: tuple[str, ...]) -> None:
    about = queue.Consumer(consumer_id, "node-7", 4711, "1.2.3", lanes, ("capture",), ENVIRONMENT)
    async with hand.db.transaction() as tx:
        await environment_store.know_environment(tx, ENVIRONMENT, {})
        await queue.register_consumer(tx, about)


async def failing_plan(hand: Hand, error: str = "the browser broke") -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.settle(await hand.claim("plan"), Failed(error))
    return await hand.fresh(build)


async def failing_capture(hand: Hand) -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("lost the browser", Outcome.CRASHED))
    return await hand.finalise(build)


def actions(page: Page, word: str) -> list[str]:
    return [each["action"] or "" for each in page.all("form") if word in (each["action"] or "")]


async def test_an_idle_server_says_what_to_do_next(visitor: Visitor) -> None:
    page = await visitor.page("/operations")
    for words in ("Nothing waits and nothing runs", "storyshelf-consumer", "No job has failed"):
        assert words in page.text


async def test_lanes_are_shown_with_depth_age_and_who_serves_them(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.upload(sorted(LOOK))
    jobs = [
        NewJob("capture", "capture@x", {}, priority=Priority.INTERACTIVE),
        NewJob("capture", "capture@x", {}, delay=timedelta(hours=1)),
        NewJob("capture", "capture@x", {}),
    ]
    async with hand.db.transaction() as tx:
        await queue.enqueue(tx, jobs)
    await register(hand, ConsumerId("c-1"), ("plan",))
    text = (await visitor.page("/operations")).text
    assert "capture@x interactive 1 0 0 0 just now none serves it" in text
    assert "capture@x default 1 1 0 0 just now none serves it" in text
    assert "plan default 1 0 0 0 just now 1" in text


async def test_a_lane_leads_to_its_jobs_from_the_first_on(hand: Hand, visitor: Visitor) -> None:
    jobs = [
        NewJob("capture", lane, {}, priority=priority)
        for lane in ("capture@x", "capture@y")
        for priority in (Priority.INTERACTIVE, Priority.DEFAULT)
    ]
    async with hand.db.transaction() as tx:
        ids = await queue.enqueue(tx, jobs)
    page = await visitor.page("/operations")
    lanes = [link for link in page.links if "show=queued&after=" in link]
    seen = [(await visitor.page(link)).ids for link in lanes]
    listed = [[name for name in each if name.startswith("job-")] for each in seen]
    assert listed == [[f"job-{job_id}" for job_id in ids[start:]] for start in range(4)]


async def test_a_consumer_is_shown_with_what_it_runs(hand: Hand, visitor: Visitor) -> None:
    await register(hand, CONSUMER, ("plan",))
    await hand.upload(sorted(LOOK))
    await hand.claim("plan")
    page = await visitor.page("/operations")
    for words in ("node-7", "4711", "1.2.3", "takes work", "shop, build 1", "attempt 1 of 3"):
        assert words in page.text
    assert "/projects/shop/builds/1" in page.links
    assert len(actions(page, "/release")) == 1
    assert actions(page, "/cancel") == []  # the job's own page asks first


async def test_the_jobs_of_a_consumer_that_is_gone_are_shown(hand: Hand, visitor: Visitor) -> None:
    await hand.upload(sorted(LOOK))
    await hand.claim("plan")
    assert "Held by consumers that are gone" in (await visitor.page("/operations")).text


async def test_a_failed_plan_is_shown_and_tried_again(hand: Hand, visitor: Visitor) -> None:
    build = await failing_plan(hand)
    page = await visitor.page("/operations")
    assert "the browser broke" in page.text
    assert "attempt 1 failed" in page.text
    (retry,) = actions(page, "/retry")
    answer = await visitor.client.post(retry)
    assert (answer.status_code, answer.headers["location"]) == (303, "/operations")
    assert (await hand.fresh(build)).state is BuildState.QUEUED
    assert [actor for actor, _ in await audited(hand.db, "build.capture_again")] == [
        "ada@shelf.test"
    ]
    again = Page(await visitor.client.post(retry))
    assert again.status == 409
    assert "/operations" in again.links


async def test_a_failed_capture_is_tried_again_as_its_shard(hand: Hand, visitor: Visitor) -> None:
    build = await failing_capture(hand)
    assert build.state is BuildState.FAILED
    (retry,) = actions(await visitor.page("/operations"), "/retry")
    assert (await visitor.client.post(retry)).status_code == 303
    assert (await hand.fresh(build)).state is BuildState.CAPTURING
    assert len(await audited(hand.db, "shard.retry")) == 1
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED
    late = Page(await visitor.client.post(retry))
    assert late.status == 409
    assert "another job has its shard" in late.text


async def way_to_cancel(visitor: Visitor) -> str:
    """Where the one job that is shown is cancelled, which its own page asks about."""
    (link,) = {link for link in (await visitor.page("/operations")).links if JOB_LINK.match(link)}
    (cancel,) = actions(await visitor.page(link), "/cancel")
    return cancel


async def test_a_waiting_job_is_cancelled_with_its_build(hand: Hand, visitor: Visitor) -> None:
    build = await hand.upload(sorted(LOOK))
    cancel = await way_to_cancel(visitor)
    assert (await visitor.client.post(cancel)).status_code == 303
    ended = await hand.fresh(build)
    assert ended.state is BuildState.CANCELLED
    assert "cancelled by ada@shelf.test" in (ended.state_reason or "")
    assert len(await audited(hand.db, "job.cancel")) == 1
    late = Page(await visitor.client.post(cancel))
    assert (late.status, "The job has ended already" in late.text) == (409, True)


async def test_a_running_job_is_asked_to_stop(hand: Hand, visitor: Visitor) -> None:
    await register(hand, CONSUMER, ("plan",))
    build = await hand.upload(sorted(LOOK))
    await hand.claim("plan")
    await visitor.client.post(await way_to_cancel(visitor))
    page = await visitor.page("/operations")
    assert "asked to stop" in page.text
    assert "Cancel…" not in page.text
    assert len(await live_jobs(hand, build)) == 1


@pytest.mark.parametrize("action", ["retry", "cancel"])
async def test_a_job_that_is_not_there_is_an_error(visitor: Visitor, action: str) -> None:
    answer = Page(await visitor.client.post(f"/operations/jobs/77/{action}"))
    assert (answer.status, "There is no such job" in answer.text) == (404, True)


async def test_what_waits_or_was_done_is_not_retried(hand: Hand, visitor: Visitor) -> None:
    build = await hand.upload(sorted(LOOK))
    (row,) = await live_jobs(hand, build)
    retry = f"/operations/jobs/{row['id']}/retry"
    assert "it waits or runs" in Page(await visitor.client.post(retry)).text
    await hand.plan(build, sorted(LOOK))
    assert "it was done" in Page(await visitor.client.post(retry)).text


async def test_jobs_are_listed_and_paged_by_what_they_do(hand: Hand, visitor: Visitor) -> None:
    jobs = [NewJob("capture", "capture@x", {}, build_id=None) for _ in range(60)]
    async with hand.db.transaction() as tx:
        ids = await queue.enqueue(tx, jobs)
    page = await visitor.page("/operations")
    assert "/operations/jobs?show=queued" in page.links
    first = await visitor.page("/operations/jobs?show=queued")
    second = await visitor.page(first.next_link() or "")
    seen = [name for each in (first, second) for name in each.ids if name.startswith("job-")]
    assert seen == [f"job-{job_id}" for job_id in ids]
    assert "No job is running" in (await visitor.page("/operations/jobs?show=running")).text
    assert "No job has failed" in (await visitor.page("/operations/jobs")).text


async def test_failed_jobs_are_paged_the_latest_first(hand: Hand, visitor: Visitor) -> None:
    ids: list[JobId] = []
    for _ in range(52):
        async with hand.db.transaction() as tx:
            (job_id,) = await queue.enqueue(tx, [NewJob("plan", "plan", {})])
        assert job_id is not None
        await hand.settle(await hand.claim("plan"), Failed("no"))
        ids.append(job_id)
    first = await visitor.page("/operations/jobs?show=failed")
    second = await visitor.page(first.next_link() or "")
    seen = [name for each in (first, second) for name in each.ids if name.startswith("job-")]
    assert seen == [f"job-{job_id}" for job_id in reversed(ids)]


@pytest.mark.parametrize(
    ("show", "cursor"),
    [
        ("queued", cursor_of("plan", 11, 0, 0)),
        ("queued", cursor_of("plan", 10, 2**63, 0)),
        ("queued", cursor_of(1, 10, 0, 0)),
        ("parked", cursor_of(2**63, 10, 0, 0)),
        ("running", cursor_of(2**63)),
        ("running", cursor_of(-1)),
        ("deferred", moment_cursor(EPOCH, 2**63)),
        ("failed", moment_cursor(EPOCH, -1)),
        ("failed", "nonsense"),
    ],
)
async def test_a_cursor_that_no_page_gave_out_is_refused(
    visitor: Visitor, show: str, cursor: str
) -> None:
    page = await visitor.page(f"/operations/jobs?show={show}&after={cursor}", status=422)
    assert "not one of ours" in page.text


@pytest.mark.parametrize("lane", ["\0 no lane", "\ud800", "z" * 900])
async def test_a_lane_in_a_cursor_may_be_anything(visitor: Visitor, lane: str) -> None:
    after = cursor_of(lane, 10, 0, 0)
    page = await visitor.page(f"/operations/jobs?show=queued&after={after}")
    assert "No job is queued" in page.text


async def test_an_error_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    await failing_plan(hand, HOSTILE)
    page = await visitor.page("/operations")
    assert page.all("img") == []
    assert HOSTILE in page.text
    assert strange_scripts(page) == []


@pytest.mark.parametrize(
    "path", ["", "/jobs", "/users", "/audit", "/jobs/1/retry", "/jobs/1/cancel", "/users/1"]
)
async def test_operations_are_for_those_who_run_the_server(
    db: Database, hand: Hand, tmp_path: Path, path: str
) -> None:
    async with asking(parts_on(db, tmp_path)) as client:
        roles = {hand.project.id: Role.ADMIN}
        await sign_in(db, client, "cleo@shelf.test", roles=roles)
        page = await Visitor(client).page("/")
        assert "/operations" not in page.links
        if path in {"", "/jobs", "/users", "/audit"}:
            assert (await client.get(f"/operations{path}")).status_code == 403
        if path not in {"", "/jobs", "/audit"}:
            assert (await client.post(f"/operations{path}")).status_code == 403


async def test_the_page_asks_for_itself_again(visitor: Visitor) -> None:
    page = await visitor.page("/operations")
    live = page.by_id("live")
    assert (live["hx-get"], live["data-refresh-s"]) == ("/operations", "5")
    assert {"http-equiv": "refresh", "content": "5"} in page.all("meta")
