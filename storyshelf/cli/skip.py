"""`storyshelf skip`: a build that captures nothing, so that no required check waits for one."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from storyshelf.cli.output import Output, choose_format, open_output
from storyshelf.cli.session import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    report_skip,
    skip_without_token,
)
from storyshelf.cli.upload import BranchOption, CommitOption, PullRequestOption
from storyshelf.client.api import Origin
from storyshelf.client.ci import CiRun, detect
from storyshelf.client.commit import CommitFacts
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.git import identify
from storyshelf.clock import SystemClock

USUAL_REASON = "asked for on the command line"


def skip(  # noqa: PLR0913  # a command's options
    *,
    reason: Annotated[str, typer.Option(help="Shown with the build.")] = USUAL_REASON,
    url: UrlOption = None,
    project_token: TokenOption = None,
    commit: CommitOption = None,
    branch: BranchOption = None,
    pull_request: PullRequestOption = None,
    json: JsonOption = False,
) -> None:
    """Have this commit's checks succeed as skipped, without capturing anything."""
    run = detect(os.environ)
    said = CommitFacts(commit, branch)
    origin = Origin(pull_request or (run or CiRun("")).pull_request, run.facts() if run else {})

    async def work(output: Output) -> ExitCode:
        if lack := skip_without_token(url, project_token, run):
            return report_skip(lack, output)
        found = identify(said, run.commit if run else CommitFacts(), Path())
        async with connected(url, project_token) as api:
            slug = (await api.project()).slug
            build = await api.skip_build(slug, found, reason, origin)
        return report_skip(reason, output, build)

    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    with open_output(form, SystemClock().monotonic) as output:
        asyncio.run(work(output))
