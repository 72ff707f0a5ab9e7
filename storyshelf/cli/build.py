"""`storyshelf cancel` and `storyshelf capture-again`: end a build, or have it captured anew."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from storyshelf.cli.output import choose_format, open_output
from storyshelf.cli.session import BuildArgument, JsonOption, TokenOption, UrlOption, connected
from storyshelf.client.answers import Build
from storyshelf.client.api import Api
from storyshelf.client.build_address import BuildAddress, parse_build, require_same_build
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.summary import Line, verdict_sentence
from storyshelf.clock import SystemClock

Act = Callable[[Api, str], Awaitable[Build]]


def cancel(
    build: BuildArgument,
    *,
    reason: Annotated[str | None, typer.Option(help="Shown with the build.")] = None,
    url: UrlOption = None,
    project_token: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Cancel a build that has not ended; what was captured of it stays visible."""
    address = parse_build(build)

    async def act(api: Api, slug: str) -> Build:
        return await api.cancel(slug, address.number, reason)

    changed = asyncio.run(_changed(address, url, project_token, act))
    _report(changed, json=json)


def capture_again(
    build: BuildArgument,
    *,
    url: UrlOption = None,
    project_token: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Capture a build anew that is broken, failed, incomplete or cancelled; does not wait."""
    address = parse_build(build)

    async def act(api: Api, slug: str) -> Build:
        return await api.capture_again(slug, address.number)

    changed = asyncio.run(_changed(address, url, project_token, act))
    _report(changed, json=json)


async def _changed(address: BuildAddress, url: str | None, token: str | None, act: Act) -> Build:
    async with connected(url or address.server, token) as api:
        slug = (await api.project()).slug
        if address.page is not None:
            require_same_build(address, (await api.build(slug, address.number)).url)
        return await act(api, slug)


def _report(build: Build, *, json: bool) -> None:
    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    with open_output(form, SystemClock().monotonic) as output:
        output.say(
            [Line(f"Build {build.number} {verdict_sentence(build)}"), Line(f"  {build.url}")]
        )
        output.result({"build": build.model_dump(mode="json"), "exit_code": int(ExitCode.OK)})
