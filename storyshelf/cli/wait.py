"""`storyshelf wait BUILD`: block until a build has a verdict, and exit with it."""

import asyncio
import os
import sys
from contextlib import AbstractAsyncContextManager

import typer

from storyshelf.cli.output import Output, choose_format, open_output
from storyshelf.cli.session import (
    DEFAULT_TIMEOUT_S,
    BuildArgument,
    ExitZeroOption,
    JsonOption,
    Patience,
    TimeoutOption,
    TokenOption,
    UrlOption,
    connected,
    patience,
    report_verdict,
)
from storyshelf.client.api import Api
from storyshelf.client.build_address import BuildAddress, parse_build, require_same_build
from storyshelf.client.exit_codes import ExitCode
from storyshelf.clock import SystemClock


def wait(  # noqa: PLR0913  # a command's options
    build: BuildArgument,
    *,
    url: UrlOption = None,
    project_token: TokenOption = None,
    timeout: TimeoutOption = DEFAULT_TIMEOUT_S,
    exit_zero_on_changes: ExitZeroOption = False,
    json: JsonOption = False,
) -> None:
    """Wait for a build's verdict.

    Exit codes: 0 passed or accepted, 1 changes to decide or denied, 2 stories that could not be
    captured, 3 failed or incomplete, 6 cancelled, 201 server unreachable, 202 refused by the
    server, 220 still running after --timeout.
    """
    address = parse_build(build)
    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    waiting = patience(timeout, exit_zero_on_changes=exit_zero_on_changes)
    with open_output(form, SystemClock().monotonic) as output:
        connecting = connected(url or address.server, project_token)
        code = asyncio.run(_wait(address, connecting, output, waiting))
    raise typer.Exit(code)


async def _wait(
    address: BuildAddress,
    connecting: AbstractAsyncContextManager[Api],
    output: Output,
    waiting: Patience,
) -> ExitCode:
    async with connecting as api:
        slug = (await api.project()).slug
        if address.page is not None:
            require_same_build(address, (await api.build(slug, address.number)).url)
        return await report_verdict(api, slug, address.number, output, waiting)
