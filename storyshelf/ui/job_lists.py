"""Read jobs for a list with what they are for, a page at a time."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from storyshelf.builds import list_store
from storyshelf.db.engine import Tx
from storyshelf.ids import JobId
from storyshelf.operations.overview import Overview
from storyshelf.projects import store as projects
from storyshelf.queue import store as queue
from storyshelf.queue.job import Priority
from storyshelf.queue.store import FailedJob, KnownJob, LaneTurn, ProjectTurn, UnfinishedJob
from storyshelf.ui.view_models.job_lines import (
    Failures,
    JobLine,
    Names,
    failed_line,
    unfinished_line,
)
from storyshelf.ui.view_models.jobs import Show
from storyshelf.ui.view_models.operations import Listed
from storyshelf.web.paging import (
    BadCursorError,
    cursor_of,
    moment_cursor,
    page_of,
    parse_cursor,
    parse_moment,
)

JOBS_A_PAGE = 50
NEXT_OF_A_LANE = 5  # and class: what comes next is more worth knowing than what comes after

MAX_ID = 2**63 - 1
CLASSES = frozenset(int(each) for each in Priority)

Lines = tuple[Sequence[JobLine], str | None]


async def listed_now(tx: Tx, found: Overview, shown: int) -> Listed:
    """Return the jobs that the page of all names one by one, and one more of each sort."""
    waiting = [(load.lane, load.priority) for load in found.loads if load.queued][:shown]
    next_up = await queue.first_of_lanes(tx, waiting, each=NEXT_OF_A_LANE)
    deferred = await queue.deferred_jobs(tx, after=None, limit=shown + 1)
    failed = await queue.failed_jobs(tx, before=None, limit=shown + 1)
    failures = Failures(failed, await queue.attempts_of(tx, [job.job_id for job in failed]))
    names = await names_of(tx, *found.running, *next_up, *deferred, *failed)
    return Listed(next_up, deferred, failures, names)


async def page_of_jobs(tx: Tx, show: Show, after: str | None, now: datetime) -> Lines:
    """Return a page of the jobs of a sort, and where the list goes on; raises BadCursorError."""
    if show is Show.FAILED:
        return await _failed(tx, after, now)
    found, more = await READS[show](tx, after)
    names = await names_of(tx, *found)
    return [unfinished_line(job, names, now) for job in found], more


async def names_of(tx: Tx, *jobs: FailedJob | UnfinishedJob | KnownJob) -> Names:
    """Return what the jobs are for, of what is still there."""
    builds = {job.build_id for job in jobs if job.build_id is not None}
    of_projects = {job.project_id for job in jobs if job.project_id is not None}
    return Names(await list_store.named(tx, sorted(builds)), await projects.slugs(tx, of_projects))


Found = tuple[Sequence[UnfinishedJob], str | None]


async def _failed(tx: Tx, after: str | None, now: datetime) -> Lines:
    found, more = page_of(
        await queue.failed_jobs(tx, before=_moment(after), limit=JOBS_A_PAGE + 1),
        JOBS_A_PAGE,
        lambda job: moment_cursor(job.finished_at, job.job_id),
    )
    failures = Failures(found, await queue.attempts_of(tx, [job.job_id for job in found]))
    names = await names_of(tx, *found)
    return [failed_line(job, failures, names, now) for job in found], more


async def _queued(tx: Tx, after: str | None) -> Found:
    turn = LaneTurn()
    if after is not None:
        lane, *numbers = parse_cursor(after, str, int, int, int)
        turn = LaneTurn(_text(str(lane)), *_numbers(numbers))
    found = await queue.queued_jobs(tx, after=turn, limit=JOBS_A_PAGE + 1)
    return _page(found, lambda job: cursor_of(job.lane, *_turn(job)))


async def _parked(tx: Tx, after: str | None) -> Found:
    turn = ProjectTurn()
    if after is not None:
        project_id, *numbers = parse_cursor(after, int, int, int, int)
        turn = ProjectTurn(_id(project_id), *_numbers(numbers))
    found = await queue.parked_jobs(tx, after=turn, limit=JOBS_A_PAGE + 1)
    return _page(found, lambda job: cursor_of(job.project_id or 0, *_turn(job)))


async def _deferred(tx: Tx, after: str | None) -> Found:
    found = await queue.deferred_jobs(tx, after=_moment(after), limit=JOBS_A_PAGE + 1)
    return _page(found, lambda job: moment_cursor(job.run_at, job.job_id))


async def _running(tx: Tx, after: str | None) -> Found:
    last = 0 if after is None else _id(parse_cursor(after, int)[0])
    found = await queue.running_jobs(tx, after=last, limit=JOBS_A_PAGE + 1)
    return _page(found, lambda job: cursor_of(job.job_id))


def _page(found: Sequence[UnfinishedJob], cursor: Callable[[UnfinishedJob], str]) -> Found:
    return page_of(found, JOBS_A_PAGE, cursor)


def _numbers(numbers: Sequence[str | int]) -> tuple[int, int, int]:
    """Return class, tag and id of a cursor; raises BadCursorError for what no column holds."""
    priority, fair_tag, job_id = (_id(number) for number in numbers)
    if priority not in CLASSES:
        raise BadCursorError
    return priority, fair_tag, job_id


def _text(lane: str) -> str:
    """Return what of a cursor's text a column can hold."""
    return lane.encode(errors="ignore").decode().replace("\0", "")


def _id(number: str | int) -> int:
    if not 0 <= int(number) <= MAX_ID:
        raise BadCursorError
    return int(number)


def _turn(job: UnfinishedJob) -> tuple[int, int, int]:
    return int(job.priority), job.fair_tag, job.job_id


def _moment(after: str | None) -> tuple[datetime, JobId] | None:
    parsed = parse_moment(after)
    return None if parsed is None else (parsed[0], JobId(_id(parsed[1])))


READS: Mapping[Show, Callable[[Tx, str | None], Awaitable[Found]]] = {
    Show.QUEUED: _queued,
    Show.DEFERRED: _deferred,
    Show.PARKED: _parked,
    Show.RUNNING: _running,
}
