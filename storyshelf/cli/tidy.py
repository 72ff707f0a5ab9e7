"""`storyshelf tidy`: drop builds that are past their limits, sweep files that nobody names."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from storyshelf import logs
from storyshelf.cli.database import opened_database
from storyshelf.cli.output import Output, choose_format, open_output
from storyshelf.cli.session import JsonOption
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.steps import Step, size_words
from storyshelf.client.summary import Line
from storyshelf.clock import SystemClock
from storyshelf.errors import ConflictError
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.retention import Choice
from storyshelf.operations.tidy import Tidied, would_tidy
from storyshelf.operations.tidy import tidy as tidy_up
from storyshelf.queue.job_kind import JobKinds
from storyshelf.settings import read_settings
from storyshelf.storage.local_sweep import Freed
from storyshelf.wiring import house_of


class TidyingAlreadyError(ConflictError):
    """Another process sweeps, or makes a backup."""

    def __init__(self) -> None:
        super().__init__(
            "Another process is tidying up, or makes a backup, and both need the files alone",
            next_step="Wait until it is done, then try again.",
        )


def tidy(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, build by build; do nothing.")
    ] = False,
    project: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Look at the builds of this project alone.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Drop builds past their limits and remove files that nothing refers to.

    A consumer does the same once an hour. Limits are a project's keep_builds and keep_days, else
    STORYSHELF_KEEP_BUILDS and STORYSHELF_KEEP_DAYS; without any, no build is ever dropped.
    """
    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    with open_output(form, SystemClock().monotonic) as output:
        done = asyncio.run(_tidied(project, output, dry_run=dry_run))
        output.say(_lines(done, dry_run=dry_run))
        output.result({**_document(done), "dry_run": dry_run, "exit_code": int(ExitCode.OK)})


async def _tidied(project: str | None, output: Output, *, dry_run: bool) -> Tidied:
    def tell(freed: Freed) -> None:
        output.step(Step("Removing", freed.blobs, 0, _weight(freed)))

    settings, now = read_settings(), SystemClock().now()
    logs.configure(settings.log_level, settings.log_format)
    async with opened_database(settings) as db:
        house = house_of(settings, db, JobKinds(every_kind()))
        if dry_run:
            return await would_tidy(house, now, project)
        done = await tidy_up(house, now, project, tell)
    if done is None:
        raise TidyingAlreadyError
    return done


def _lines(done: Tidied, *, dry_run: bool) -> Sequence[Line]:
    verb = "Would drop" if dry_run else "Dropped"
    lines = [line for slug, choices in done.choices.items() for line in _choices(slug, choices)]
    builds = "1 build" if done.builds == 1 else f"{done.builds} builds"
    total = Line(f"{verb} {builds} and {'remove' if dry_run else 'removed'} {_weight(done.freed)}.")
    also = [Line("Files that only those builds refer to come on top.", "faint")]
    return [*(lines if dry_run else ()), total, *(also if dry_run and done.builds else ())]


def _choices(slug: str, choices: Sequence[Choice]) -> Sequence[Line]:
    if not choices:
        return [Line(f"keep {slug}, all of it: no limit is set, or there is no build")]
    return [
        Line(f"{choice.fate} {slug} build {choice.build.number}: {choice.reason}")
        for choice in choices
    ]


def _weight(freed: Freed) -> str:
    files = "1 file" if freed.blobs == 1 else f"{freed.blobs} files"
    return f"{files}, {size_words(freed.size_bytes)}"


def _document(done: Tidied) -> Mapping[str, object]:
    return {
        "builds": done.builds,
        "blobs": done.freed.blobs,
        "size_bytes": done.freed.size_bytes,
        "choices": [
            {
                "project": slug,
                "build": choice.build.number,
                "branch": choice.build.branch,
                "fate": choice.fate.value,
                "reason": choice.reason,
            }
            for slug, choices in done.choices.items()
            for choice in choices
        ],
    }
