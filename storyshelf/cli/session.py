"""What the commands of a server's client share: options, a connection, a verdict reported."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Annotated

import typer

from storyshelf.cli.github import annotation, outputs_of, write_outputs
from storyshelf.cli.output import Output
from storyshelf.client.answers import Build
from storyshelf.client.api import Api, connect
from storyshelf.client.ci import CiRun
from storyshelf.client.exit_codes import ExitCode, InvalidOptionsError, OnChanges, code_of_state
from storyshelf.client.retrying import DEFAULT_TRIES, Backoff
from storyshelf.client.saved import NoServerError, choose_server
from storyshelf.client.skipping import skip_for_lack
from storyshelf.client.steps import step_of_build
from storyshelf.client.summary import TO_LOOK_AT, Line, summary
from storyshelf.client.traceparent import trace_headers
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


def skip_without_token(url: str | None, token: str | None, run: CiRun | None) -> str | None:
    """Return why this run of a CI is skipped for lack of a token; None: it has what it needs.

    Raises NoServerError where a person, or the CI's configuration, has forgotten it.
    """
    try:
        choose_server(url, token, data_dir(os.environ, own_user_id()))
    except NoServerError as error:
        reason = skip_for_lack(error, run)
        if reason is None:
            raise
        return reason
    return None


def report_skip(reason: str, output: Output, build: Build | None = None) -> ExitCode:
    """Say why nothing is captured, where the CI shows it too; nothing is wrong with that."""
    output.say([Line(f"Skipped: {reason}", "attention"), *annotation(os.environ, reason)])
    if build is not None:
        output.say([Line(f"  {build.url}")])
    outputs = {"code": str(int(ExitCode.OK))} if build is None else outputs_of(build, ExitCode.OK)
    write_outputs(os.environ, outputs)
    document = None if build is None else build.model_dump(mode="json")
    output.result({"skipped": reason, "build": document, "exit_code": int(ExitCode.OK)})
    return ExitCode.OK


@asynccontextmanager
async def connected(url: str | None, token: str | None) -> AsyncIterator[Api]:
    """Connect to the server that options, environment or the saved file name."""
    server = choose_server(url, token, data_dir(os.environ, own_user_id()))
    backoff = Backoff(SystemRandom().random, tries(os.environ))
    async with connect(server, SystemClock(), backoff) as api:
        api.http.headers.update(trace_headers(os.environ))
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
    write_outputs(os.environ, outputs_of(build, code))
    output.say(summary(build, snapshots, code))
    output.result(
        {
            "build": build.model_dump(mode="json"),
            "snapshots": [snapshot.model_dump(mode="json") for snapshot in snapshots],
            "exit_code": int(code),
        }
    )
    return code
