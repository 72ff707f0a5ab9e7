"""`/operations/jobs/{id}`: everything of one job, and what can be done with it."""

import re
from datetime import timedelta

import pytest

from storyshelf.ids import JobId
from storyshelf.operations.tidy_job import tidy_job
from storyshelf.queue import store as queue
from storyshelf.queue.job import Completed, Failed, NewJob, Retried, Trace
from storyshelf.ui.view_models.one_job import MOST_PAYLOAD_CHARS
from tests.builds.hand import CONSUMER, Hand
from tests.queue.builders import run
from tests.ui.facts import audited, strange_scripts
from tests.ui.visitor import Page, Visitor

HOSTILE = "<img src=x onerror=alert(1)>"
LOOK = {"a--one": "red"}


async def a_job(hand: Hand, job: NewJob) -> JobId:
    async with hand.db.transaction() as tx:
        (job_id,) = await queue.enqueue(tx, [job])
    assert job_id is not None
    return job_id


def forms(page: Page) -> set[str]:
    return {
        (each["action"] or "").rpartition("/")[2]
        for each in page.all("form")
        if "/jobs/" in (each["action"] or "")
    }


async def test_a_waiting_job_is_shown_with_what_it_is_for(hand: Hand, visitor: Visitor) -> None:
    await hand.upload(sorted(LOOK))
    listed = await visitor.page("/operations/jobs?show=queued")
    (link,) = {link for link in listed.links if link.startswith("/operations/jobs/")}
    page = await visitor.page(link)
    for words in ("plan", "queued", "shop, build 1", "0, 0 of 3 charged", "Nobody has begun it"):
        assert words in page.text
    assert '"build_id"' in page.text
    assert forms(page) == {"cancel"}


async def test_a_running_job_shows_its_attempt_under_way(hand: Hand, visitor: Visitor) -> None:
    trace = Trace("request-7", None)
    job_id = await a_job(hand, NewJob("plan", "plan", {}, trace=trace))
    await hand.claim("plan")
    page = await visitor.page(f"/operations/jobs/{job_id}")
    for words in ("1, 1 of 3 charged", CONSUMER, "request-7", "Lease ends in"):
        assert words in page.text
    assert re.search(r"for \d+ s", page.text)
    assert forms(page) == {"cancel", "release"}
    assert page.by_id("live")["hx-get"] == f"/operations/jobs/{job_id}"


async def test_attempts_are_shown_with_outcome_error_and_duration(
    hand: Hand, visitor: Visitor
) -> None:
    job_id = await a_job(hand, NewJob("plan", "plan", {}))
    await hand.settle(await hand.claim("plan"), Retried(timedelta(), "the first"))
    await run(hand.db, "UPDATE jobs SET state = 'queued'")
    await hand.settle(await hand.claim("plan"), Failed("the second"))
    page = await visitor.page(f"/operations/jobs/{job_id}")
    assert {"attempt-1", "attempt-2"} <= {*page.ids}
    assert "the first" in page.text
    assert page.text.count("the second") == 2  # as the last error, and of its attempt
    assert forms(page) == {"retry"}
    assert "hx-get" not in page.by_id("live")  # it has ended: nothing moves any more


async def test_a_job_that_was_done_offers_nothing(hand: Hand, visitor: Visitor) -> None:
    job_id = await a_job(hand, NewJob("deliver", "deliver", {"delivery_id": 1, "version": 1}))
    lease = await hand.claim("deliver")
    async with hand.db.transaction() as tx:
        await queue.settle(tx, [(lease, Completed())])
    page = await visitor.page(f"/operations/jobs/{job_id}")
    assert "completed" in page.text
    assert forms(page) == set()


async def test_a_payload_is_bounded_and_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    job_id = await a_job(hand, NewJob("plan", "plan", {"a": HOSTILE, "b": "x" * 9_000}))
    page = await visitor.page(f"/operations/jobs/{job_id}")
    assert page.all("img") == []
    assert strange_scripts(page) == []
    assert HOSTILE in page.text
    assert page.text.count("x") < MOST_PAYLOAD_CHARS + 200
    assert "characters more are not shown" in page.text


async def test_a_running_job_is_given_back_from_its_page(hand: Hand, visitor: Visitor) -> None:
    job_id = await a_job(hand, NewJob("plan", "plan", {}))
    await hand.claim("plan")
    link = f"/operations/jobs/{job_id}"
    answer = await visitor.client.post(
        f"{link}/release", headers={"referer": f"http://shelf.test{link}"}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, link)
    page = await visitor.page(link)
    assert "being given back" in page.text
    assert forms(page) == {"cancel"}
    assert [actor for actor, _ in await audited(hand.db, "job.release")] == ["ada@shelf.test"]


async def retried(visitor: Visitor, job_id: JobId) -> str:
    """Where the button on the job's own page leads."""
    link = f"/operations/jobs/{job_id}"
    assert forms(await visitor.page(link)) == {"retry"}
    answer = await visitor.client.post(
        f"{link}/retry", headers={"referer": f"http://shelf.test{link}"}
    )
    assert answer.status_code == 303
    return answer.headers["location"]


async def test_a_retry_leads_to_the_job_that_does_it_again_and_the_old_one_tells_of_it(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.upload(sorted(LOOK))
    lease = await hand.claim("plan")
    await hand.settle(lease, Failed("no"))
    new = await retried(visitor, lease.job_id)
    assert "queued for shop, build 1" in (await visitor.page(new)).text
    old = await visitor.page(f"/operations/jobs/{lease.job_id}")
    assert f"asked again: see job {new.rpartition('/')[2]}" in old.text
    assert new in old.links
    assert forms(old) == set()


async def test_a_retry_that_made_no_job_leads_to_the_page_of_all(
    hand: Hand, visitor: Visitor
) -> None:
    job_id = await a_job(hand, tidy_job())
    await hand.settle(await hand.claim("maintain"), Failed("no"))
    await a_job(hand, tidy_job())  # the next hour's, which does the same
    assert await retried(visitor, job_id) == "/operations"
    assert await audited(hand.db, "job.retry") == []


async def test_what_nobody_runs_cannot_be_given_back(hand: Hand, visitor: Visitor) -> None:
    job_id = await a_job(hand, NewJob("plan", "plan", {}))
    page = Page(await visitor.client.post(f"/operations/jobs/{job_id}/release"))
    assert (page.status, "nobody runs it" in page.text) == (409, True)
    assert "/operations" in page.links


@pytest.mark.parametrize("number", ["77", str(2**63 - 1)])
async def test_a_job_that_is_not_there_has_no_page(visitor: Visitor, number: str) -> None:
    page = await visitor.page(f"/operations/jobs/{number}", status=404)
    assert "There is no such job" in page.text
    assert "/operations" in page.links


async def test_a_job_that_has_ended_names_the_request_of_its_build(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.upload(sorted(LOOK))
    await run(hand.db, "UPDATE builds SET request_id = 'request-8'")
    lease = await hand.claim("plan")
    await hand.settle(lease, Failed("no"))
    assert "request-8" in (await visitor.page(f"/operations/jobs/{lease.job_id}")).text
