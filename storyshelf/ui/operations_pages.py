"""The routes of whoever runs the server: what waits, who works on what, what failed."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from storyshelf.auth.permissions import Action
from storyshelf.ids import ConsumerId, JobId
from storyshelf.operations.act_on_alarm import dismiss_alarm
from storyshelf.operations.act_on_consumer import Wish, ask_consumer
from storyshelf.operations.act_on_job import (
    NoSuchJobError,
    cancel_job,
    release_job,
    retry_job,
)
from storyshelf.operations.asked_again import known_now
from storyshelf.operations.overview import overview
from storyshelf.queue import store as queue
from storyshelf.ui.job_lists import listed_now, names_of, page_of_jobs
from storyshelf.ui.render import render
from storyshelf.ui.view_models.job_lines import purpose_of
from storyshelf.ui.view_models.jobs import Show, jobs_page
from storyshelf.ui.view_models.one_job import job_page
from storyshelf.ui.view_models.operations import operations_page
from storyshelf.web.caller import CallerFirst, WithParts, WithVisitor, needs
from storyshelf.web.links import Links
from storyshelf.web.numbers import BigId
from storyshelf.web.paging import After
from storyshelf.wiring import Parts

SHOWN = 20  # of the jobs that wait and of those that failed; for more there is a list

router = APIRouter(
    prefix="/operations",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.OPERATE)],
)


class JobsQuery(After):
    """Which jobs a list shows."""

    show: Show = Show.FAILED


@router.get("")
async def show_operations(request: Request, parts: WithParts) -> HTMLResponse:
    """Show lanes, consumers and jobs as they are now; script asks for it again and again."""
    async with parts.db.transaction() as tx:
        found = await overview(tx)
        listed = await listed_now(tx, found, SHOWN)
    page = operations_page(found, listed, SHOWN, parts.clock.now())
    return render(request, "operations.html", page)


@router.get("/jobs")
async def show_jobs(
    request: Request, parts: WithParts, shown: Annotated[JobsQuery, Query()]
) -> HTMLResponse:
    """Show all jobs of a sort, a page at a time."""
    async with parts.db.transaction() as tx:
        jobs, more = await page_of_jobs(tx, shown.show, shown.after, parts.clock.now())
    return render(request, "jobs.html", jobs_page(shown.show, jobs, more))


@router.get("/jobs/{job_id}")
async def show_job(request: Request, job_id: BigId, parts: WithParts) -> HTMLResponse:
    """Show everything of a job."""
    request.state.back = Links().operations
    async with parts.db.transaction() as tx:
        job = await queue.known_job(tx, JobId(job_id))
        if job is None:
            raise NoSuchJobError(JobId(job_id))
        found, names = await known_now(tx, job), await names_of(tx, job)
    return render(request, "job.html", job_page(found, names, parts.clock.now()))


@router.post("/jobs/{job_id}/retry")
async def retry(
    request: Request, job_id: BigId, who: WithVisitor, parts: WithParts
) -> RedirectResponse:
    """Do again what a failed job was for; from its own page, lead to the job that does."""
    request.state.back = Links().operations
    again = await retry_job(parts.db, JobId(job_id), who.actor)
    if not _came_from_its_page(request):
        return _to_where_they_were(request)
    page = await _purpose_page(parts, JobId(job_id)) if again is None else Links().job(again)
    return RedirectResponse(page, HTTPStatus.SEE_OTHER)


@router.post("/jobs/{job_id}/cancel")
async def cancel(
    request: Request, job_id: BigId, who: WithVisitor, parts: WithParts
) -> RedirectResponse:
    """End a job that waits, or ask the consumer that runs it to stop."""
    request.state.back = Links().operations
    await cancel_job(parts.db, parts.kinds, JobId(job_id), who.actor)
    return _to_where_they_were(request)


@router.post("/jobs/{job_id}/release")
async def release(
    request: Request, job_id: BigId, who: WithVisitor, parts: WithParts
) -> RedirectResponse:
    """Have the consumer that runs a job put it back into the queue."""
    request.state.back = Links().operations
    await release_job(parts.db, JobId(job_id), who.actor)
    return _to_where_they_were(request)


@router.post("/consumers/{consumer_id}/{wish}")
async def ask(
    request: Request, consumer_id: str, wish: Wish, who: WithVisitor, parts: WithParts
) -> RedirectResponse:
    """Ask a consumer to take no more work, to take some again, or to stop."""
    request.state.back = Links().operations
    await ask_consumer(parts.db, ConsumerId(consumer_id), wish, who.actor)
    return RedirectResponse(Links().operations, HTTPStatus.SEE_OTHER)


@router.post("/alarms")
async def dismiss(
    request: Request,
    name: Annotated[str, Form(max_length=300)],
    seen: Annotated[str, Form(max_length=100)],
    who: WithVisitor,
    parts: WithParts,
) -> RedirectResponse:
    """Forget an alarm, as it was seen, until it comes again."""
    request.state.back = Links().operations
    await dismiss_alarm(parts.db, name, seen, who.actor)
    return RedirectResponse(Links().operations, HTTPStatus.SEE_OTHER)


def _to_where_they_were(request: Request) -> RedirectResponse:
    """Go back to the job's own page from there, else to the page of all."""
    page = _own_page(request) if _came_from_its_page(request) else Links().operations
    return RedirectResponse(page, HTTPStatus.SEE_OTHER)


def _came_from_its_page(request: Request) -> bool:
    came_from = (request.headers.get("referer") or "").partition("?")[0]
    return came_from.endswith(_own_page(request))


def _own_page(request: Request) -> str:
    return Links().job(JobId(int(request.path_params["job_id"])))


async def _purpose_page(parts: Parts, job_id: JobId) -> str:
    """Return the page of what the job was for, else the page of all."""
    async with parts.db.transaction() as tx:
        job = await queue.known_job(tx, job_id)
        if job is None:
            return Links().operations
        purpose = purpose_of(job.build_id, job.project_id, await names_of(tx, job))
    return purpose.link or Links().operations
