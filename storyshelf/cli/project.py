"""`storyshelf project`: projects and their tokens, made on the database itself."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from storyshelf.audit import store as audit
from storyshelf.auth import store as auth
from storyshelf.auth.permissions import Scope
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import ALL_SCOPES, KeptToken, NewToken
from storyshelf.cli.connect import connect
from storyshelf.cli.database import in_one_transaction
from storyshelf.cli.delete import delete_project
from storyshelf.cli.making import ACTOR, make_project, make_token
from storyshelf.cli.printing import print_json, print_lines
from storyshelf.cli.session import JsonOption
from storyshelf.db.engine import Tx
from storyshelf.errors import NotFoundError
from storyshelf.ids import TokenId
from storyshelf.projects import store
from storyshelf.projects.make import end_token
from storyshelf.projects.options import StoredValue, parse_option
from storyshelf.projects.project import Project

PAGE = 200
FIRST_TOKEN = "first"  # noqa: S105  # the name of a token, for people
SlugArgument = Annotated[str, typer.Argument(metavar="SLUG", help="The project's name in links.")]

app = typer.Typer(
    name="project",
    no_args_is_help=True,
    help="Make projects and their tokens, and set their options.",
    pretty_exceptions_enable=False,
)


class NoSuchTokenError(NotFoundError):
    """The project has no valid token of that number."""

    def __init__(self, slug: str, token_id: int) -> None:
        super().__init__(
            f"There is no token {token_id} to revoke",
            where=slug,
            next_step=f"`storyshelf project tokens {slug}` lists them.",
        )


app.command("delete")(delete_project)
app.command("connect")(connect)


@app.command()
def create(
    slug: SlugArgument,
    *,
    name: Annotated[str | None, typer.Option(help="For people; else the slug.")] = None,
    default_branch: Annotated[
        str, typer.Option(help="Where a new branch's first baselines are from.")
    ] = "main",
    json: JsonOption = False,
) -> None:
    """Make a project and its first token, which is shown this once."""

    async def make(tx: Tx) -> tuple[Project, NewToken]:
        project = await make_project(tx, slug, name, default_branch)
        return project, await make_token(tx, project, TokenUse(FIRST_TOKEN))

    project, token = in_one_transaction(make)
    _show_token(project, token, f"Project {slug} is made.", json=json)


@app.command()
def token(
    slug: SlugArgument,
    *,
    name: Annotated[str, typer.Option(help="What it is for; decisions are signed with it.")] = "ci",
    expires_days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Days it is valid; else until revoked.")
    ] = None,
    scope: Annotated[
        list[Scope] | None, typer.Option(help="What it may: may be given again; else everything.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make another token of a project, which is shown this once."""
    scopes = frozenset(scope) if scope else ALL_SCOPES
    lives = None if expires_days is None else timedelta(days=expires_days)

    async def make(tx: Tx) -> tuple[Project, NewToken]:
        project = await store.by_slug(tx, slug)
        return project, await make_token(tx, project, TokenUse(name, scopes, lives))

    project, made = in_one_transaction(make)
    _show_token(project, made, f"Token {name} of project {slug} is made.", json=json)


@app.command()
def tokens(slug: SlugArgument, *, json: JsonOption = False) -> None:
    """List a project's tokens; what they are is kept nowhere."""

    async def found(tx: Tx) -> Sequence[KeptToken]:
        return await auth.tokens_of(tx, (await store.by_slug(tx, slug)).id)

    kept = in_one_transaction(found)
    if json:
        print_json({"items": [{**asdict(one), "scopes": sorted(one.scopes)} for one in kept]})
        return
    print_lines(_token_line(one) for one in kept)


@app.command()
def revoke(
    slug: SlugArgument,
    token_id: Annotated[int, typer.Argument(metavar="TOKEN", help="Its number in `tokens`.")],
) -> None:
    """End a token at once and for good."""

    async def end(tx: Tx) -> None:
        project = await store.by_slug(tx, slug)
        if not await end_token(tx, project, TokenId(token_id), ACTOR):
            raise NoSuchTokenError(slug, token_id)

    in_one_transaction(end)
    print_lines([f"Token {token_id} of project {slug} is revoked."])


@app.command("list")
def list_projects(*, json: JsonOption = False) -> None:
    """List the projects."""
    projects = in_one_transaction(_all_projects)
    if json:
        print_json({"items": [_document(project) for project in projects]})
        return
    none = ["There is no project yet; `storyshelf project create SLUG` makes one."]
    print_lines([f"{one.slug:<24} {one.default_branch:<16} {one.name}" for one in projects] or none)


@app.command("set")
def set_options(
    slug: SlugArgument,
    options: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="See the README.")],
    *,
    json: JsonOption = False,
) -> None:
    """Set options for builds to come; a wrong one is answered with all there are."""
    wanted = dict(parse_option(one) for one in options)

    async def change(tx: Tx) -> Project:
        project = await store.by_slug(tx, slug)
        await store.set_options(tx, project.id, wanted)
        await audit.record(tx, audit.Event(ACTOR, "project.set", project.id, detail=wanted))
        return await store.by_slug(tx, slug)

    changed = in_one_transaction(change)
    if json:
        print_json(_document(changed))
        return
    print_lines(f"{name} = {_said(value)}" for name, value in changed.options.to_json().items())


def _said(value: StoredValue) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)


async def _all_projects(tx: Tx) -> Sequence[Project]:
    found: list[Project] = []
    while page := await store.page(tx, after_slug=found[-1].slug if found else "", limit=PAGE):
        found += page
    return found


def _show_token(project: Project, token: NewToken, done: str, *, json: bool) -> None:
    if json:
        print_json({"project": _document(project), "token": token.text})
        return
    print_lines(
        [
            f"{done} Its token, which is shown this once:",
            "",
            f"  {token.text}",
            "",
            "CI passes it in STORYSHELF_PROJECT_TOKEN, and the server's address in STORYSHELF_URL.",
        ]
    )


def _token_line(token: KeptToken) -> str:
    end = "valid until revoked"
    if token.expires_at is not None:
        end = f"expires {token.expires_at:%Y-%m-%d}"
    if token.revoked_at is not None:
        end = f"revoked {token.revoked_at:%Y-%m-%d}"
    used = "never" if token.last_used_at is None else f"{token.last_used_at:%Y-%m-%d %H:%M}"
    scopes = ",".join(sorted(token.scopes))
    return (
        f"{token.id:>6}  {token.hint}...  {token.name:<16} {scopes:<18} last used {used:<16}  {end}"
    )


def _document(project: Project) -> dict[str, object]:
    return {
        "slug": project.slug,
        "name": project.name,
        "default_branch": project.default_branch,
        "options": project.options.to_json(),
        "created_at": project.created_at,
    }
