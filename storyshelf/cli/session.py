"""What the commands of a server's client share: options, a connection, a verdict reported."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Annotated

import typer

from storyshelf.cli.output import Output
from storyshelf.client.api import Api, connect
from storyshelf.client.exit_codes import ExitCode, InvalidOptionsError, OnChanges, code_of_state
from storyshelf.client.retrying import DEFAULT_TRIES, Backoff
from storyshelf.client.saved import choose_server
from storyshelf.client.steps import step_of_build
from storyshelf.client.summary import TO_LOOK_AT, summary
from storyshelf.client.wait import wait_for_end
from storyshelf.clock import SystemClock
from storyshelf.data_dir import data_dir, own_user_id

DEFAULT_TIMEOUT_S = 1800.0  # of a wait; a build that takes longer goes on without it
MAX_RETRIES = 100

BuildArgument = Annotated[
    str, typer.Argument(metavar="BUILD", help="A build's number, or its page's address.")
]
UrlOption = Annotated[
    str | None, typer.Option("--url", envvar="STORYSHELF_URL", help="The server's address.")
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--project-token",
        "-t",
        envvar="STORYSHELF_PROJECT_TOKEN",
        help="The project's token; best given by the variable.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]
TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", envvar="STORYSHELF_TIMEOUT", min=0, help="Seconds to wait at most."),
]
ExitZeroOption = Annotated[
    bool,
    typer.Option("--exit-zero-on-changes", help="Exit with 0 instead of 1; errors still fail."),
]


class BadRetriesError(InvalidOptionsError):
    """The variable is not a small number."""

    def __init__(self, value: str) -> None:
        super().__init__(
            f"{value!r} is not a number of retries from 0 to {MAX_RETRIES}",
            where="STORYSHELF_RETRIES",
            next_step="Unset it, or set it to a number.",
        )


@asynccontextmanager
async def connected(url: str | None, token: str | None) -> AsyncIterator[Api]:
    """Connect to the server that options, environment or the saved file name."""
    server = choose_server(url, token, data_dir(os.environ, own_user_id()))
    backoff = Backoff(SystemRandom().random, tries(os.environ))
    async with connect(server, SystemClock(), backoff) as api:
        yield api


def tries(environ: Mapping[str, str]) -> int:
    """Return how often a request is sent at most."""
    value = environ.get("STORYSHELF_RETRIES")
    if not value:
        return DEFAULT_TRIES
    if not value.isdecimal() or int(value) > MAX_RETRIES:
        raise BadRetriesError(value)
    return int(value) + 1


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, and what a change then does to the exit code."""

    timeout_s: float
    on_changes: OnChanges


def patience(timeout_s: float, *, exit_zero_on_changes: bool) -> Patience:
    """Turn the options of a wait into what they mean."""
    return Patience(timeout_s, OnChanges.EXIT_ZERO if exit_zero_on_changes else OnChanges.FAIL)


async def report_verdict(
    api: Api, slug: str, number: int, output: Output, patience: Patience
) -> ExitCode:
    """Wait for the verdict, report it, and return its exit code."""
    build = await wait_for_end(
        api,
        slug,
        number,
        timeout_s=patience.timeout_s,
        seen=lambda seen: output.step(step_of_build(seen)),
    )
    lists = [
        await api.snapshots(slug, number, verdict)
        for verdict in TO_LOOK_AT
        if build.counts.get(verdict, 0) > 0
    ]
    snapshots = [snapshot for found in lists for snapshot in found]
    code = code_of_state(build.state, patience.on_changes)
    output.say(summary(build, snapshots, code))
    output.result(
        {
            "build": build.model_dump(mode="json"),
            "snapshots": [snapshot.model_dump(mode="json") for snapshot in snapshots],
            "exit_code": int(code),
        }
    )
    return code
