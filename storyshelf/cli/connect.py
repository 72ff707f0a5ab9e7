"""`storyshelf project connect`: where a project's verdicts go, for who sets it up by script."""

import asyncio
import sys
from typing import Annotated

import typer

from storyshelf.auth.secrets import secrets_of
from storyshelf.cli.database import opened_database
from storyshelf.cli.making import ACTOR
from storyshelf.cli.printing import print_json
from storyshelf.cli.session import JsonOption
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.manage import Desk, Typed, read_typed
from storyshelf.errors import BadInputError
from storyshelf.ids import ConnectionId
from storyshelf.projects import store as projects
from storyshelf.settings import read_settings

MAX_LINE = 5_000


class NoTokenError(BadInputError):
    """A forge without a token: it would be told nothing."""

    def __init__(self, kind: ConnectionKind) -> None:
        super().__init__(
            "A forge is told nothing without a token",
            where=kind.value,
            next_step="Pass it on standard input, with `--token-stdin`.",
        )


def connect(  # noqa: PLR0913  # a command's options
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The project's name in links.")],
    kind: Annotated[ConnectionKind, typer.Argument(help="What is at the other end.")],
    *,
    repository: Annotated[str, typer.Option(help="owner/name, or group/name at GitLab.")] = "",
    api_url: Annotated[str, typer.Option(help="Of a forge of your own.")] = "",
    url: Annotated[str, typer.Option(help="Of a webhook.")] = "",
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read the token, or a webhook's key, from there.")
    ] = False,
    comments: Annotated[bool, typer.Option(help="Keep one comment a pull request.")] = True,
    name_project: Annotated[bool, typer.Option(help="Name the project in the checks.")] = False,
    storybook_check: Annotated[
        bool, typer.Option(help="Check that the Storybook is published, too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Have a forge or a webhook told of each build; a webhook's key is made if none is given."""
    if kind is not ConnectionKind.WEBHOOK and not token_stdin:
        raise NoTokenError(kind)
    new = read_typed(
        Typed(
            kind=kind,
            repository=repository,
            url=url or api_url,
            secret=sys.stdin.readline(MAX_LINE).strip() if token_stdin else "",
            comments=comments,
            names_project=name_project,
            checks_storybook=storybook_check,
        )
    )

    async def make() -> ConnectionId:
        settings = read_settings()
        secrets = secrets_of(settings.named_secret_key, settings.data_dir)
        async with opened_database(settings) as db, db.transaction() as tx:
            project = await projects.by_slug(tx, slug)
            return await Desk(project.id, ACTOR, secrets).connect(tx, new)

    made = asyncio.run(make())
    is_shown = kind is ConnectionKind.WEBHOOK and not token_stdin
    key = new.secret if is_shown else None
    if json:
        print_json({"connection": made, "kind": kind.value, "name": new.name, "key": key})
        return
    print(f"Project {slug} is connected to {kind.value} {new.name}.")
    if key is not None:
        print(f"The key of its signature, which is shown this once:\n\n  {key}")
