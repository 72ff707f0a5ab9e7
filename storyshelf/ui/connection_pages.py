"""The routes of a project's connections: where its verdicts go, and whether they get there."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth.permissions import Action
from storyshelf.auth.secrets import SealedElsewhereError
from storyshelf.auth.signed_in import SignedIn
from storyshelf.deliveries import store
from storyshelf.deliveries.answers import RefusedError, TryLaterError
from storyshelf.deliveries.connection import BadConnectionError, ConnectionKind
from storyshelf.deliveries.manage import Desk, Typed, read_typed
from storyshelf.deliveries.send import Line, look
from storyshelf.ids import DeliveryId
from storyshelf.projects.project import Project
from storyshelf.ui.render import UNSEEN, render
from storyshelf.ui.view_models.connections import (
    Came,
    connections_page,
    new_connection_page,
)
from storyshelf.ui.view_models.forms import done, error_words, refused, wrong
from storyshelf.ui.view_models.told import connections_link
from storyshelf.web.caller import CallerFirst, WithParts, WithProject, WithVisitor, needs
from storyshelf.web.links import with_query
from storyshelf.web.numbers import BigId
from storyshelf.wiring import Parts

MAX_TYPED = 5_000
MAX_CONNECTIONS = 50  # of one project: each is told of every state of every build

router = APIRouter(
    prefix="/projects/{slug}/settings/connections",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.MANAGE)],
)
Yes = Literal["", "yes"]
Done = Literal["", "connected", "replaced", "disabled", "enabled", "deleted", "resent"]
DONE: dict[str, str] = {
    "connected": "The connection is made; test it to be sure",
    "replaced": "The secret is replaced, and what failed is sent again",
    "disabled": "The connection says nothing from now on",
    "enabled": "The connection speaks again",
    "deleted": "The connection is deleted",
    "resent": "It is on its way again",
}


@dataclass(frozen=True, slots=True)
class Here:
    """The project, who looks at it, and what the server is made of."""

    project: Project
    who: SignedIn
    parts: Parts

    @property
    def desk(self) -> Desk:
        """Return what may be done here."""
        return Desk(self.project.id, self.who.actor, self.parts.secrets)

    @property
    def named(self) -> tuple[Project, SignedIn]:
        """Return the project and who looks at it."""
        return self.project, self.who


async def here_of(project: WithProject, who: WithVisitor, parts: WithParts) -> Here:
    """Put together what each route here is about."""
    return Here(project, who, parts)


WithHere = Annotated[Here, Depends(here_of)]


class ConnectionsQuery(BaseModel):
    """What was done before the page was shown."""

    done: Done = ""


class ConnectionForm(BaseModel):
    """Every field of every kind; one that a kind has not is not sent."""

    repository: str = Field("", max_length=MAX_TYPED)
    url: str = Field("", max_length=MAX_TYPED)
    secret: str = Field("", max_length=MAX_TYPED)
    comments: Yes = ""
    names_project: Yes = ""
    checks_storybook: Yes = ""


class SecretForm(BaseModel):
    """Another token or key."""

    secret: str = Field("", max_length=MAX_TYPED)


@router.get("")
async def show_connections(
    request: Request,
    here: WithHere,
    asked: Annotated[ConnectionsQuery, Query()],
) -> HTMLResponse:
    """Show the connections with how their last deliveries went."""
    notice = done(DONE[asked.done]) if asked.done else None
    return await _list(request, here, Came(notice))


@router.get("/new/{kind}")
async def show_form(request: Request, kind: ConnectionKind, here: WithHere) -> HTMLResponse:
    """Show the form for one more connection."""
    page = new_connection_page(here.named, kind, {"comments": "yes"}, {}, None)
    return render(request, "new_connection.html", page)


@router.post("/new/{kind}")
async def connect(
    request: Request,
    kind: ConnectionKind,
    here: WithHere,
    form: Annotated[ConnectionForm, Form()],
) -> Response:
    """Make a connection, or show the form again with what is wrong."""
    typed = form.model_dump()
    try:
        new = read_typed(_typed(kind, form))
        async with here.parts.db.transaction() as tx:
            _require_few(len(await store.connections_of(tx, here.project.id)))
            await here.desk.connect(tx, new)
    except BadConnectionError as error:
        problems = {error.field: error_words(error)}
        page = new_connection_page(here.named, kind, typed, problems, wrong(problems))
        return render(request, "new_connection.html", page, HTTPStatus.UNPROCESSABLE_ENTITY)
    if kind is not ConnectionKind.WEBHOOK or form.secret:
        return _back(here, "connected")
    came = Came(done(DONE["connected"]), key=new.secret)
    answer = await _list(request, here, came, HTTPStatus.CREATED)
    answer.headers.update(UNSEEN)
    return answer


@router.post("/{connection_id}/test")
async def try_out(
    request: Request,
    connection_id: BigId,
    here: WithHere,
) -> HTMLResponse:
    """Ask the other end, and show what it says."""
    async with here.parts.db.transaction() as tx:
        connection = await store.connection(tx, here.project.id, connection_id)
    try:
        secret = here.parts.secrets.open(connection.secret)
        notice = done(await look(Line(connection, secret, here.parts.ask, here.parts.clock.now())))
    except (RefusedError, TryLaterError, SealedElsewhereError) as error:
        notice = refused(error)
    return await _list(request, here, Came(notice))


@router.post("/{connection_id}/secret")
async def replace_secret(
    request: Request,
    connection_id: BigId,
    here: WithHere,
    form: Annotated[SecretForm, Form()],
) -> Response:
    """Take another token or key."""
    try:
        async with here.parts.db.transaction() as tx:
            await here.desk.replace_secret(tx, connection_id, form.secret)
    except BadConnectionError as error:
        came, status = Came(refused(error)), HTTPStatus.UNPROCESSABLE_ENTITY
        return await _list(request, here, came, status)
    return _back(here, "replaced")


@router.post("/{connection_id}/disable")
async def disable(connection_id: BigId, here: WithHere) -> Response:
    """Have it say nothing from now on."""
    async with here.parts.db.transaction() as tx:
        await here.desk.disable(tx, connection_id)
    return _back(here, "disabled")


@router.post("/{connection_id}/enable")
async def enable(connection_id: BigId, here: WithHere) -> Response:
    """Have it speak again."""
    async with here.parts.db.transaction() as tx:
        await here.desk.enable(tx, connection_id)
    return _back(here, "enabled")


@router.post("/{connection_id}/delete")
async def delete(connection_id: BigId, here: WithHere) -> Response:
    """Forget it with its secret."""
    async with here.parts.db.transaction() as tx:
        await here.desk.delete(tx, connection_id)
    return _back(here, "deleted")


@router.post("/{connection_id}/resend")
async def resend_failed(connection_id: BigId, here: WithHere) -> Response:
    """Send again all that failed."""
    async with here.parts.db.transaction() as tx:
        await here.desk.resend(tx, connection_id)
    return _back(here, "resent")


@router.post("/{connection_id}/deliveries/{delivery_id}/resend")
async def resend_one(
    connection_id: BigId,
    delivery_id: BigId,
    here: WithHere,
) -> Response:
    """Send one delivery again, as it should stand now."""
    async with here.parts.db.transaction() as tx:
        desk = here.desk
        await desk.resend(tx, connection_id, only=DeliveryId(delivery_id))
    return _back(here, "resent")


async def _list(
    request: Request,
    here: Here,
    came: Came,
    status: int = HTTPStatus.OK,
) -> HTMLResponse:
    async with here.parts.db.transaction() as tx:
        found = await store.connections_of(tx, here.project.id)
        last = await store.newest_of(tx, [each.id for each in found])
    page = connections_page(here.named, found, last, came, here.parts.clock.now())
    return render(request, "connections.html", page, status)


def _typed(kind: ConnectionKind, form: ConnectionForm) -> Typed:
    return Typed(
        kind=kind,
        repository=form.repository,
        url=form.url,
        secret=form.secret,
        comments=bool(form.comments),
        names_project=bool(form.names_project),
        checks_storybook=bool(form.checks_storybook),
    )


def _require_few(there_are: int) -> None:
    if there_are >= MAX_CONNECTIONS:
        raise BadConnectionError(
            "url", f"the project has {there_are} connections", "Delete one of them first."
        )


def _back(here: Here, what: Done) -> Response:
    link = with_query(connections_link(here.project), {"done": what})
    return RedirectResponse(link, HTTPStatus.SEE_OTHER)
