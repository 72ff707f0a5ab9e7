"""`storyshelf user`: the people who sign in, made and shut out on the database itself."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from getpass import getpass
from typing import Annotated, Any, Literal

import typer

from storyshelf.auth import user_store as store
from storyshelf.auth import users
from storyshelf.auth.passwords import Passwords, require_good
from storyshelf.auth.permissions import Role
from storyshelf.auth.user_store import User
from storyshelf.auth.users import LINK_LIVES
from storyshelf.cli.database import in_one_transaction
from storyshelf.cli.making import ACTOR
from storyshelf.cli.printing import print_json, print_lines
from storyshelf.cli.server_url import server_url
from storyshelf.cli.session import JsonOption
from storyshelf.client.exit_codes import InvalidOptionsError
from storyshelf.db.engine import Tx
from storyshelf.projects import store as projects
from storyshelf.settings import read_settings
from storyshelf.web.links import Links

PAGE = 200
EmailArgument = Annotated[str, typer.Argument(metavar="EMAIL", help="What they sign in with.")]
PasswordOption = Annotated[
    bool, typer.Option("--password-stdin", help="Read a password from stdin; no link is made.")
]
NONE: Literal["none"] = "none"

app = typer.Typer(
    name="user",
    no_args_is_help=True,
    help="Make users, give them roles, and shut them out.",
    pretty_exceptions_enable=False,
)


class HalfARoleError(InvalidOptionsError):
    """A project without a role, or a role without a project."""

    def __init__(self) -> None:
        super().__init__(
            "A role is one in a project",
            where="--project, --role",
            next_step="Give both, or neither.",
        )


class UnknownRoleError(InvalidOptionsError):
    """No role is called that."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"There is no role {text!r}", where="ROLE", next_step=f"Give one of {_roles()}."
        )


@dataclass(frozen=True, slots=True)
class Made:
    """A user, with the link to sign in by if one was made."""

    user: User
    secret: str | None


@app.command()
def add(  # noqa: PLR0913  # a command's options
    email: EmailArgument,
    *,
    name: Annotated[str | None, typer.Option(help="For people; else what is before the @.")] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="May do everything on this server.")
    ] = False,
    project: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Make them a member of it.")
    ] = None,
    role: Annotated[Role | None, typer.Option(help="What they are there.")] = None,
    password_stdin: PasswordOption = False,
    json: JsonOption = False,
) -> None:
    """Make a user, and a link that signs them in once within 24 hours."""
    if (project is None) != (role is None):
        raise HalfARoleError
    wanted = users.parse_user(email, name, is_admin=admin)
    password_hash = _read_password(wanted.email) if password_stdin else None

    async def make(tx: Tx) -> Made:
        user = await users.add(tx, ACTOR, wanted)
        if project is not None and role is not None:
            found = await projects.by_slug(tx, project)
            await users.set_role(tx, ACTOR, found.id, user, role)
        return await _let_in(tx, user, password_hash)

    _show(in_one_transaction(make), f"User {wanted.email} is made.", json=json)


@app.command("list")
def list_users(*, json: JsonOption = False) -> None:
    """List the users."""
    found = in_one_transaction(_all_users)
    if json:
        print_json({"items": [_document(user) for user in found]})
        return
    none = ["There is no user yet; `storyshelf user add EMAIL --admin` makes one."]
    print_lines([_line(user) for user in found] or none)


@app.command()
def reset(
    email: EmailArgument, *, password_stdin: PasswordOption = False, json: JsonOption = False
) -> None:
    """End a user's password and sessions, and make a link that signs them in once."""
    password_hash = _read_password(email) if password_stdin else None

    async def anew(tx: Tx) -> Made:
        user = await store.user_by_email(tx, email)
        secret = await users.reset(tx, ACTOR, user)
        if password_hash is None:
            return Made(user, secret)
        await users.set_password(tx, ACTOR, user, password_hash)
        return Made(user, None)

    _show(in_one_transaction(anew), f"User {email} is signed out everywhere.", json=json)


@app.command()
def link(email: EmailArgument, *, json: JsonOption = False) -> None:
    """Make a link that signs a user in once; their password and sessions stay."""

    async def make(tx: Tx) -> Made:
        user = await store.user_by_email(tx, email)
        return Made(user, await users.link(tx, ACTOR, user))

    _show(in_one_transaction(make), f"User {email} may sign in.", json=json)


@app.command()
def disable(email: EmailArgument, *, json: JsonOption = False) -> None:
    """Shut a user out at once: sessions and links end."""

    async def end(tx: Tx) -> Made:
        await users.disable(tx, ACTOR, await store.user_by_email(tx, email))
        return Made(await store.user_by_email(tx, email), None)

    _show(in_one_transaction(end), f"User {email} is disabled.", json=json)


@app.command()
def enable(email: EmailArgument, *, json: JsonOption = False) -> None:
    """Let a user in again."""

    async def begin(tx: Tx) -> Made:
        await users.enable(tx, ACTOR, await store.user_by_email(tx, email))
        return Made(await store.user_by_email(tx, email), None)

    _show(in_one_transaction(begin), f"User {email} is enabled.", json=json)


@app.command()
def admin(
    email: EmailArgument,
    *,
    end: Annotated[bool, typer.Option("--end", help="They no longer are one.")] = False,
    json: JsonOption = False,
) -> None:
    """Make a user a server administrator, who may do everything."""

    async def change(tx: Tx) -> Made:
        user = await store.user_by_email(tx, email)
        await (users.end_admin if end else users.make_admin)(tx, ACTOR, user)
        return Made(await store.user_by_email(tx, email), None)

    is_now = f"User {email} is {'no longer ' if end else ''}a server administrator."
    _show(in_one_transaction(change), is_now, json=json)


@app.command()
def role(
    email: EmailArgument,
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The project.")],
    role: Annotated[str, typer.Argument(metavar="ROLE", help="What they are there, or `none`.")],
    *,
    json: JsonOption = False,
) -> None:
    """Make a user viewer, developer, reviewer or admin of a project, or `none` of these."""
    wanted = _parse_role(role)

    async def change(tx: Tx) -> Made:
        user, project = await store.user_by_email(tx, email), await projects.by_slug(tx, slug)
        if wanted == NONE:
            await users.end_role(tx, ACTOR, project.id, user)
        else:
            await users.set_role(tx, ACTOR, project.id, user, wanted)
        return Made(user, None)

    is_now = f"User {email} is {'no member' if wanted == NONE else wanted} of project {slug}."
    _show(in_one_transaction(change), is_now, json=json)


async def _let_in(tx: Tx, user: User, password_hash: str | None) -> Made:
    if password_hash is None:
        return Made(user, await users.link(tx, ACTOR, user))
    await users.set_password(tx, ACTOR, user, password_hash)
    return Made(user, None)


async def _all_users(tx: Tx) -> Sequence[User]:
    found: list[User] = []
    while page := await store.users_page(
        tx, after_email=found[-1].email if found else "", limit=PAGE
    ):
        found += page
    return found


def _read_password(email: str) -> str:
    """Return the hash of the first line of stdin; raises BadPasswordError."""
    if sys.stdin.isatty():
        password = getpass("Password: ")  # typed, and not shown
    else:
        password = sys.stdin.readline().removesuffix("\n").removesuffix("\r")
    require_good(password, email)
    passwords = Passwords()
    try:
        return asyncio.run(passwords.hash_of(password))
    finally:
        passwords.close()


def _parse_role(text: str) -> Role | Literal["none"]:
    if text == NONE:
        return NONE
    try:
        return Role(text)
    except ValueError:
        raise UnknownRoleError(text) from None


def _roles() -> str:
    return ", ".join((*Role, NONE))


def _show(made: Made, done: str, *, json: bool) -> None:
    address = None
    if made.secret is not None:
        address = Links(server_url(read_settings())).sign_in_link(made.secret)
    if json:
        print_json({"user": _document(made.user), "sign_in": address})
        return
    hours = round(LINK_LIVES.total_seconds() / 3600)
    told = [f"A link that signs them in once, within {hours} hours:", "", f"  {address}", ""]
    print_lines([done, *(told if address else [])])


def _line(user: User) -> str:
    signs = [
        "server administrator" if user.is_admin else "",
        "" if user.has_password else "no password",
        "disabled" if user.disabled_at else "",
    ]
    return f"{user.email:<32} {user.name:<24} {', '.join(filter(None, signs))}".rstrip()


def _document(user: User) -> Mapping[str, Any]:
    return asdict(user)
