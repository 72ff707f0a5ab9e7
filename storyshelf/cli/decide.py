"""`storyshelf accept`, `deny` and `undo`: decide what a build changed, through the server."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from storyshelf.cli.output import Output, choose_format, open_output
from storyshelf.cli.session import BuildArgument, JsonOption, TokenOption, UrlOption, connected
from storyshelf.client.answers import Build, Snapshot
from storyshelf.client.api import Api
from storyshelf.client.build_address import BuildAddress, parse_build, require_same_build
from storyshelf.client.exit_codes import ExitCode, InvalidOptionsError
from storyshelf.client.summary import DECIDABLE, Line, verdict_sentence
from storyshelf.clock import SystemClock

SnapshotsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SNAPSHOT]...",
        help="Ids of snapshots, the last part of their pages' addresses, or ids of stories.",
    ),
]


class NothingNamedError(InvalidOptionsError):
    """Neither snapshots nor all, or both."""

    def __init__(self) -> None:
        super().__init__(
            "It is not said what the decision is about",
            where="SNAPSHOT... or --all",
            next_step="Name snapshots, or pass --all, but not both.",
        )


class NotAmongThemError(InvalidOptionsError):
    """A name that none of the build's decidable snapshots has."""

    def __init__(self, name: str, build: Build) -> None:
        super().__init__(
            f"Build {build.number} has no snapshot {name!r} to decide",
            where=build.url,
            next_step="Only what was changed, added, removed or is unstable can be decided.",
        )


@dataclass(frozen=True, slots=True)
class _Decision:
    """What one command line decides: `names` empty means everything undecided."""

    decision: str
    done: str
    address: BuildAddress
    names: Sequence[str]


def accept(  # noqa: PLR0913  # a command's options
    build: BuildArgument,
    snapshots: SnapshotsArgument = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Every snapshot that waits for a decision.")
    ] = False,
    url: UrlOption = None,
    project_token: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Accept changes: they are what later builds are compared with."""
    names = _names(snapshots, every=every)
    _run(
        _Decision("accepted", "Accepted", parse_build(build), names), url, project_token, json=json
    )


def deny(  # noqa: PLR0913  # a command's options
    build: BuildArgument,
    snapshots: SnapshotsArgument = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Every snapshot that waits for a decision.")
    ] = False,
    url: UrlOption = None,
    project_token: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Deny changes: the build does not pass, and later ones are compared with what was before."""
    names = _names(snapshots, every=every)
    _run(_Decision("denied", "Denied", parse_build(build), names), url, project_token, json=json)


def undo(
    build: BuildArgument,
    snapshots: Annotated[list[str], typer.Argument(metavar="SNAPSHOT...", help="As in `accept`.")],
    *,
    url: UrlOption = None,
    project_token: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Take decisions back: the snapshots wait for one again."""
    decision = _Decision("none", "Taken back", parse_build(build), snapshots)
    _run(decision, url, project_token, json=json)


def _names(snapshots: list[str] | None, *, every: bool) -> Sequence[str]:
    if every == bool(snapshots):
        raise NothingNamedError
    return snapshots or ()


def _run(decision: _Decision, url: str | None, token: str | None, *, json: bool) -> None:
    form = choose_format(json_wanted=json, stream=sys.stdout, environ=os.environ)
    with open_output(form, SystemClock().monotonic) as output:
        asyncio.run(_decide(decision, url, token, output))


async def _decide(decision: _Decision, url: str | None, token: str | None, output: Output) -> None:
    async with connected(url or decision.address.server, token) as api:
        slug = (await api.project()).slug
        build = await api.build(slug, decision.address.number)
        require_same_build(decision.address, build.url)
        named = await _named(api, slug, build, decision.names)
        decided = await api.decide(slug, build.number, decision.decision, named)
    number = f"{decided.decided} snapshot{'' if decided.decided == 1 else 's'}"
    now = f"Build {build.number} {verdict_sentence(decided.build)}"
    output.say([Line(f"{decision.done}: {number}."), Line(now), Line(f"  {build.url}")])
    output.result(
        {
            "build": decided.build.model_dump(mode="json"),
            "decided": decided.decided,
            "exit_code": int(ExitCode.OK),
        }
    )


async def _named(
    api: Api, slug: str, build: Build, names: Sequence[str]
) -> Sequence[Snapshot] | None:
    """Return the snapshots of these names as they are now; None where everything is meant."""
    if not names:
        return None
    lists = [await api.snapshots(slug, build.number, verdict) for verdict in DECIDABLE]
    found = [snapshot for each in lists for snapshot in each]
    for name in names:
        if not any(_is_named(snapshot, name) for snapshot in found):
            raise NotAmongThemError(name, build)
    return [one for one in found if any(_is_named(one, name) for name in names)]


def _is_named(snapshot: Snapshot, name: str) -> bool:
    return name in {str(snapshot.id), snapshot.url, snapshot.story_id}
