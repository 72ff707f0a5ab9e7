"""`storyshelf upload DIR` brings a built Storybook to the server; `storyshelf DIR` waits too."""

import asyncio
import os
import secrets
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from storyshelf.bundle.index import find_index, parse_index
from storyshelf.cli.output import Output, choose_format, open_output
from storyshelf.cli.session import (
    DEFAULT_TIMEOUT_S,
    ExitZeroOption,
    JsonOption,
    Patience,
    TimeoutOption,
    TokenOption,
    UrlOption,
    connected,
    patience,
    report_skip,
    report_verdict,
    skip_without_token,
)
from storyshelf.client.api import Api, BuildRequest, Origin
from storyshelf.client.ci import CiRun, detect
from storyshelf.client.commit import Commit, CommitFacts
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.git import identify
from storyshelf.client.hashing import HashedFolder, hash_folder
from storyshelf.client.skipping import skip_for_branch
from storyshelf.client.steps import step_of_hashing, step_of_sending
from storyshelf.client.summary import Line
from storyshelf.client.upload import Finding, Uploaded, idempotency_key
from storyshelf.client.upload import upload as send
from storyshelf.clock import SystemClock

USUAL_FOLDER = Path("storybook-static")

DirArgument = Annotated[
    Path | None, typer.Argument(metavar="DIR", help="The folder that `storybook build` wrote.")
]
DirOption = Annotated[
    Path | None,
    typer.Option("--storybook-build-dir", "-d", help="The same folder, named by an option."),
]
CommitOption = Annotated[
    str | None,
    typer.Option(
        "--commit",
        envvar=["STORYSHELF_COMMIT", "STORYSHELF_SHA"],
        help="Its hash, instead of what CI or git says.",
    ),
]
BranchOption = Annotated[
    str | None,
    typer.Option(
        "--branch",
        "--branch-name",
        envvar="STORYSHELF_BRANCH",
        help="Its name, instead of what CI or git says.",
    ),
]
MessageOption = Annotated[
    str | None, typer.Option("--message", help="The commit's, instead of what CI or git says.")
]
AuthorOption = Annotated[
    str | None, typer.Option("--author", help="The commit's, instead of what CI or git says.")
]
RebuildOption = Annotated[
    bool,
    typer.Option(
        "--force-rebuild", help="Make a new build, even of a bundle and commit that have one."
    ),
]
OlderOption = Annotated[
    bool | None,
    typer.Option(
        "--cancel-older/--keep-older",
        help="Whether older builds of the branch that have not ended are cancelled; "
        "not said: as the project's option says.",
    ),
]


PullRequestOption = Annotated[
    int | None,
    typer.Option(
        "--pull-request",
        envvar="STORYSHELF_PULL_REQUEST",
        min=1,
        help="Its number, instead of what CI says; it gets the comment.",
    ),
]
SkipOption = Annotated[
    str | None,
    typer.Option(
        "--skip",
        metavar="GLOB",
        help="Capture nothing on such a branch, and have its checks succeed as skipped.",
    ),
]


@dataclass(frozen=True, slots=True)
class _Order:
    """What one command line asks for, and the CI run it is part of."""

    folder: Path
    url: str | None
    token: str | None
    commit: CommitFacts
    nonce: str
    cancel_older: bool | None
    skip: str | None
    run: CiRun | None
    pull_request: int | None

    @property
    def origin(self) -> Origin:
        """Return what a build remembers of where it is from."""
        run = self.run or CiRun("")
        return Origin(self.pull_request or run.pull_request, run.facts())

    def identified(self) -> Commit:
        """Return the commit; raises UnknownCommitError, UnknownBranchError."""
        from_ci = self.run.commit if self.run else CommitFacts()
        return identify(self.commit, from_ci, self.folder)


def upload(  # noqa: PLR0913  # a command's options
    directory: DirArgument = None,
    *,
    storybook_build_dir: DirOption = None,
    url: UrlOption = None,
    project_token: TokenOption = None,
    commit: CommitOption = None,
    branch: BranchOption = None,
    message: MessageOption = None,
    author: AuthorOption = None,
    force_rebuild: RebuildOption = False,
    cancel_older: OlderOption = None,
    pull_request: PullRequestOption = None,
    skip: SkipOption = None,
    json: JsonOption = False,
) -> None:
    """Upload a built Storybook and print its build; `storyshelf wait` then gets the verdict.

    Interrupted, the same command goes on with what is still missing.
    """
    order = _Order(
        _folder(directory, storybook_build_dir),
        url,
        project_token,
        CommitFacts(commit, branch, message, author),
        secrets.token_hex(8) if force_rebuild else "",
        cancel_older,
        skip,
        detect(os.environ),
        pull_request,
    )
    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    with open_output(form, SystemClock().monotonic) as output:
        asyncio.run(_unless_skipped(order, output, _upload))


def publish(  # noqa: PLR0913  # a command's options
    directory: DirArgument = None,
    *,
    storybook_build_dir: DirOption = None,
    url: UrlOption = None,
    project_token: TokenOption = None,
    commit: CommitOption = None,
    branch: BranchOption = None,
    message: MessageOption = None,
    author: AuthorOption = None,
    force_rebuild: RebuildOption = False,
    cancel_older: OlderOption = None,
    pull_request: PullRequestOption = None,
    skip: SkipOption = None,
    timeout: TimeoutOption = DEFAULT_TIMEOUT_S,
    exit_zero_on_changes: ExitZeroOption = False,
    json: JsonOption = False,
) -> None:
    """Upload a built Storybook, wait, and exit with the verdict.

    Exit codes: 0 passed or accepted, 1 changes to decide or denied, 2 stories that could not be
    captured, 3 failed or incomplete, 4 no stories, 6 cancelled, 201 server unreachable, 202
    refused by the server, 220 still running after --timeout, 254 wrong options.
    """
    order = _Order(
        _folder(directory, storybook_build_dir),
        url,
        project_token,
        CommitFacts(commit, branch, message, author),
        secrets.token_hex(8) if force_rebuild else "",
        cancel_older,
        skip,
        detect(os.environ),
        pull_request,
    )
    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    waiting = patience(timeout, exit_zero_on_changes=exit_zero_on_changes)
    with open_output(form, SystemClock().monotonic) as output:
        code = asyncio.run(_unless_skipped(order, output, _publishing(waiting)))
    raise typer.Exit(code)


def _folder(argument: Path | None, option: Path | None) -> Path:
    if argument is not None and option is not None and argument != option:
        raise typer.BadParameter(f"two folders are named: {argument} and {option}")
    return argument or option or USUAL_FOLDER


Work = Callable[[_Order, Output, Api, str], Awaitable[ExitCode]]


async def _unless_skipped(order: _Order, output: Output, work: Work) -> ExitCode:
    """Do the work with a connection, unless this run or its branch is to be skipped."""
    if reason := skip_without_token(order.url, order.token, order.run):
        return report_skip(reason, output)
    async with connected(order.url, order.token) as api:
        slug = (await api.project()).slug
        if order.skip is not None:
            commit = await asyncio.to_thread(order.identified)
            if reason := skip_for_branch(commit.branch, order.skip):
                build = await api.skip_build(slug, commit, reason, order.origin)
                return report_skip(reason, output, build)
        return await work(order, output, api, slug)


async def _upload(order: _Order, output: Output, api: Api, slug: str) -> ExitCode:
    uploaded = await _send(api, slug, order, output)
    output.result(
        {
            "build": uploaded.build.model_dump(mode="json"),
            "finding": uploaded.finding.value,
            "sent": {"files": uploaded.sent.files, "bytes": uploaded.sent.sent_bytes},
            "exit_code": int(ExitCode.OK),
        }
    )
    return ExitCode.OK


def _publishing(waiting: Patience) -> Work:
    async def publish(order: _Order, output: Output, api: Api, slug: str) -> ExitCode:
        uploaded = await _send(api, slug, order, output)
        return await report_verdict(api, slug, uploaded.build.number, output, waiting)

    return publish


async def _send(api: Api, slug: str, order: _Order, output: Output) -> Uploaded:
    limits = await api.limits()
    folder = await asyncio.to_thread(
        hash_folder,
        order.folder,
        lambda done, total: output.step(step_of_hashing(done, total)),
        limits,
    )
    output.say(_warnings(folder))
    commit = await asyncio.to_thread(order.identified)
    key = idempotency_key(commit, folder.manifest, order.nonce)
    request = BuildRequest(key, commit, folder.manifest, order.cancel_older, order.origin)
    uploaded = await send(
        api, slug, folder, request, lambda sent: output.step(step_of_sending(sent))
    )
    output.say(_outcome(uploaded))
    return uploaded


def _warnings(folder: HashedFolder) -> list[Line]:
    """Look into the folder before anything is sent: no stories is an error, the rest a warning."""
    index = find_index(folder.manifest)
    warnings = list(parse_index(folder.sources[index.sha256].read_bytes(), index.path).warnings)
    warnings += [
        f"these files differ in case only: {', '.join(paths)}"
        for paths in folder.manifest.case_collisions()
    ]
    return [Line(f"Warning: {warning}", "attention") for warning in warnings]


def _outcome(uploaded: Uploaded) -> list[Line]:
    build, sent = uploaded.build, uploaded.sent
    if uploaded.finding is Finding.ALREADY_HERE:
        return [
            Line(f"Build {build.number} is of this upload already: nothing was sent."),
            Line("Rebuild skipped; --force-rebuild makes a new build of it.", "faint"),
            Line(f"  {build.url}"),
        ]
    spared = f"{uploaded.spared_files} were there"
    return [
        Line(f"Build {build.number} is uploaded: {sent.files} files sent, {spared}."),
        Line(f"  {build.url}"),
    ]
