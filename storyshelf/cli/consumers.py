"""`storyshelf consumers`: who is there to work, what each runs, and what can be asked of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from storyshelf.cli.columns import columns
from storyshelf.cli.database import in_one_transaction
from storyshelf.cli.hinted import hinted_database
from storyshelf.cli.job_words import job_document
from storyshelf.cli.making import ACTOR
from storyshelf.cli.printing import print_json, print_lines
from storyshelf.cli.session import JsonOption
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Tx
from storyshelf.ids import ConsumerId
from storyshelf.operations.act_on_consumer import Wish, ask_consumer
from storyshelf.operations.overview import Overview, overview
from storyshelf.queue.store import LiveConsumer, UnfinishedJob
from storyshelf.ui.job_lists import names_of
from storyshelf.ui.view_models.consumers import CONSUMER_SIGNS, slots_of
from storyshelf.ui.view_models.job_lines import Names, purpose_of
from storyshelf.ui.words import ago, lasting

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A consumer's id, as `storyshelf consumers` lists it.")
]
HEAD = ("ID", "STATE", "VERSION", "LAST BEAT", "SLOTS")
NOBODY = "No consumer is there; `storyshelf-consumer` starts one beside the database."
DONE: Mapping[Wish, str] = {
    Wish.QUIET: "takes no more work",
    Wish.RESUME: "takes work again",
    Wish.STOP: "gives back what it cannot finish, and stops",
}

app = typer.Typer(
    name="consumers",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def show(context: typer.Context, *, json: JsonOption = False) -> None:
    """See who works on what, and have a consumer rest or stop.

    Without a command: the live consumers with their slots, and the jobs that each runs.
    """
    if context.invoked_subcommand is not None:
        return

    async def read(tx: Tx) -> tuple[Overview, Names]:
        found = await overview(tx)
        return found, await names_of(tx, *found.running)

    found, names = in_one_transaction(read)
    if json:
        print_json({"items": [_document(one, _own(one, found)) for one in found.consumers]})
        return
    print_lines(_lines(found, names, SystemClock().now()))


@app.command()
def quiet(consumer_id: IdArgument, *, json: JsonOption = False) -> None:
    """Have a consumer finish what it has and take no more."""
    _ask(consumer_id, Wish.QUIET, json=json)


@app.command()
def resume(consumer_id: IdArgument, *, json: JsonOption = False) -> None:
    """Have a consumer that rests take work again."""
    _ask(consumer_id, Wish.RESUME, json=json)


@app.command()
def stop(consumer_id: IdArgument, *, json: JsonOption = False) -> None:
    """Have a consumer give back what it cannot finish in time, and end."""
    _ask(consumer_id, Wish.STOP, json=json)


def _ask(consumer_id: str, wish: Wish, *, json: bool) -> None:
    async def run() -> None:
        async with hinted_database() as db:
            await ask_consumer(db, ConsumerId(consumer_id), wish, ACTOR)

    asyncio.run(run())
    if json:
        print_json({"consumer": consumer_id, "asked": wish})
        return
    print_lines([f"Consumer {consumer_id} {DONE[wish]}."])


def _own(one: LiveConsumer, found: Overview) -> Sequence[UnfinishedJob]:
    return [job for job in found.running if job.consumer_id == one.consumer.id]


def _lines(found: Overview, names: Names, now: datetime) -> Sequence[str]:
    if not found.consumers:
        return [NOBODY]
    owned = [_own(one, found) for one in found.consumers]
    head, *rows = columns(
        HEAD,
        [_row(one, own, now) for one, own in zip(found.consumers, owned, strict=True)],
    )
    lines = [head]
    for row, own in zip(rows, owned, strict=True):
        lines += [row, *(_job_line(job, names, now) for job in own)]
    return lines


def _row(one: LiveConsumer, own: Sequence[UnfinishedJob], now: datetime) -> Sequence[str]:
    slots = ", ".join(f"{slot.lane_short} {slot.words}" for slot in slots_of(one, own))
    state = CONSUMER_SIGNS[one.state].word
    return (one.consumer.id, state, one.consumer.version, ago(one.beat_at, now), slots)


def _job_line(job: UnfinishedJob, names: Names, now: datetime) -> str:
    started = lasting(job.attempt_started_at or job.enqueued_at, now).words
    purpose = purpose_of(job.build_id, job.project_id, names).words
    what = f"{job.kind} for {purpose}" if purpose else job.kind
    return f"  runs {what}, job {job.job_id}, attempt {job.attempt}, {started}"


def _document(one: LiveConsumer, own: Sequence[UnfinishedJob]) -> Mapping[str, Any]:
    return {
        **asdict(one.consumer),
        "state": one.state,
        "started_at": one.started_at,
        "beat_at": one.beat_at,
        "jobs": [job_document(job) for job in own],
    }
