"""`storyshelf queue`: what waits, what runs and what failed, and what can be done about a job."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, TypeVar

import typer

from storyshelf.cli.database import in_one_transaction
from storyshelf.cli.hinted import hinted_database
from storyshelf.cli.job_words import job_document, job_lines, job_table, known_lines
from storyshelf.cli.making import ACTOR
from storyshelf.cli.printing import print_json, print_lines
from storyshelf.cli.queue_words import overview_document, overview_lines
from storyshelf.cli.session import JsonOption
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import JobId
from storyshelf.operations.act_on_job import NoSuchJobError, cancel_job, release_job, retry_job
from storyshelf.operations.asked_again import KnownNow, known_now
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.overview import overview
from storyshelf.queue import store as queue
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import (
    FailedJob,
    KnownJob,
    LaneTurn,
    ProjectTurn,
    UnfinishedJob,
)
from storyshelf.ui.job_lists import names_of
from storyshelf.ui.view_models.job_lines import Names, purpose_of
from storyshelf.ui.view_models.jobs import NOTHING, Show

T = TypeVar("T")
MOST = 1_000
JobArgument = Annotated[
    int, typer.Argument(metavar="ID", min=1, max=2**63 - 1, help="The job's number.")
]
LimitOption = Annotated[int, typer.Option(min=1, max=MOST, help="Most jobs to list.")]

app = typer.Typer(
    name="queue",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def show(context: typer.Context, *, json: JsonOption = False) -> None:
    """See what waits and runs, and retry, cancel or give back a job.

    Without a command: each lane with its depth and oldest job, the figures of the last hour, alarms
    with what to do about them, and who leads.
    """
    if context.invoked_subcommand is not None:
        return
    found = in_one_transaction(overview)
    if json:
        print_json(overview_document(found))
        return
    print_lines(overview_lines(found, SystemClock().now()))


@app.command()
def jobs(
    *,
    state: Annotated[Show, typer.Option(help="Which jobs to list.")] = Show.FAILED,
    limit: LimitOption = 50,
    json: JsonOption = False,
) -> None:
    """List the jobs that failed last, or those of another state."""

    async def read(tx: Tx) -> tuple[Listed, Names]:
        listed = await LISTS[state](tx, limit)
        return listed, await names_of(tx, *listed)

    found, names = in_one_transaction(read)
    if json:
        print_json({"items": [job_document(job) for job in found]})
        return
    print_lines(job_table(found, names, SystemClock().now()) or [f"{NOTHING[state]}."])


@app.command()
def job(job_id: JobArgument, *, json: JsonOption = False) -> None:
    """Show everything of a job: how it stands, and each attempt with its error."""

    async def read(tx: Tx) -> tuple[KnownNow, Names]:
        known = await _known(tx, JobId(job_id))
        return await known_now(tx, known), await names_of(tx, known)

    now, names = in_one_transaction(read)
    found, tries = now.job, now.ended
    if json:
        print_json({"job": job_document(found), "attempts": [job_document(one) for one in tries]})
        return
    purpose = purpose_of(found.build_id, found.project_id, names)
    print_lines(known_lines(now, purpose, SystemClock().now()))


@app.command()
def retry(job_id: JobArgument, *, json: JsonOption = False) -> None:
    """Do again what a failed or cancelled job was for, with a new job."""
    found, again = _acted(JobId(job_id), lambda db, wanted: retry_job(db, wanted, ACTOR))
    if json:
        print_json({"job": job_document(found), "again": again})
        return
    does = "a job that was there already" if again is None else f"job {again}"
    print_lines([*job_lines(found), f"What it was for is done again by {does}."])


@app.command()
def cancel(job_id: JobArgument, *, json: JsonOption = False) -> None:
    """End a job that waits, or have the consumer that runs it stop."""
    kinds = JobKinds(every_kind())
    _act(JobId(job_id), lambda db, wanted: cancel_job(db, kinds, wanted, ACTOR), json=json)


@app.command()
def release(job_id: JobArgument, *, json: JsonOption = False) -> None:
    """Have the consumer that runs a job give it back to the queue, uncharged."""
    _act(JobId(job_id), lambda db, wanted: release_job(db, wanted, ACTOR), json=json)


def _act(
    job_id: JobId,
    act: Callable[[Database, JobId], Awaitable[None]],
    *,
    json: bool,
) -> None:
    """Act on a job, and say how it stands then."""
    found, _ = _acted(job_id, act)
    if json:
        print_json({"job": job_document(found)})
        return
    print_lines(job_lines(found))


def _acted(job_id: JobId, act: Callable[[Database, JobId], Awaitable[T]]) -> tuple[KnownJob, T]:
    """Act on a job; return how it stands then, and what came of the act."""

    async def run() -> tuple[KnownJob, T]:
        async with hinted_database() as db:
            done = await act(db, job_id)
            async with db.transaction() as tx:
                return await _known(tx, job_id), done

    return asyncio.run(run())


async def _known(tx: Tx, job_id: JobId) -> KnownJob:
    found = await queue.known_job(tx, job_id)
    if found is None:
        raise NoSuchJobError(job_id)
    return found


Listed = Sequence[UnfinishedJob] | Sequence[FailedJob]
LISTS: Mapping[Show, Callable[[Tx, int], Awaitable[Listed]]] = {
    Show.FAILED: lambda tx, limit: queue.failed_jobs(tx, before=None, limit=limit),
    Show.QUEUED: lambda tx, limit: queue.queued_jobs(tx, after=LaneTurn(), limit=limit),
    Show.DEFERRED: lambda tx, limit: queue.deferred_jobs(tx, after=None, limit=limit),
    Show.PARKED: lambda tx, limit: queue.parked_jobs(tx, after=ProjectTurn(), limit=limit),
    Show.RUNNING: lambda tx, limit: queue.running_jobs(tx, limit=limit),
}
