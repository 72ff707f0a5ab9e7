"""The routes of what was done, in a project and on the server as a whole."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import Field

from storyshelf.audit import store as audit
from storyshelf.audit.store import EventFilter
from storyshelf.auth.permissions import Action
from storyshelf.builds import list_store
from storyshelf.ids import ProjectId
from storyshelf.ui.render import render
from storyshelf.ui.view_models.audit import Found, project_audit, server_audit
from storyshelf.web.caller import WithParts, WithProject, WithVisitor, needs
from storyshelf.web.paging import After, moment_cursor, page_of, parse_moment
from storyshelf.wiring import Parts

EVENTS_A_PAGE = 100
MAX_TEXT = 200

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class AuditQuery(After):
    """The filter of events; a form sends empty fields along."""

    actor: str = Field("", max_length=MAX_TEXT)
    action: str = Field("", max_length=MAX_TEXT)

    def of(self, project_id: ProjectId | None) -> EventFilter:
        """Return which events of the project are asked for; None: of no project."""
        return EventFilter(project_id, self.actor.strip(), self.action.strip())


@router.get("/projects/{slug}/audit", dependencies=[needs(Action.MANAGE)])
async def show_project_audit(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    parts: WithParts,
    asked: Annotated[AuditQuery, Query()],
) -> HTMLResponse:
    """Show what was done in a project, the latest first."""
    shown = asked.of(project.id)
    found = await _found(parts, shown, asked.after)
    page = project_audit((project, who), shown, found, parts.clock.now())
    return render(request, "audit.html", page)


@router.get("/operations/audit", dependencies=[needs(Action.OPERATE)])
async def show_server_audit(
    request: Request, parts: WithParts, asked: Annotated[AuditQuery, Query()]
) -> HTMLResponse:
    """Show what was done on the server and is of no project, the latest first."""
    shown = asked.of(None)
    found = await _found(parts, shown, asked.after)
    return render(request, "operations_audit.html", server_audit(shown, found, parts.clock.now()))


async def _found(parts: Parts, shown: EventFilter, after: str | None) -> Found:
    async with parts.db.transaction() as tx:
        kept = await audit.page(tx, shown, before=parse_moment(after), limit=EVENTS_A_PAGE + 1)
        events, more = page_of(kept, EVENTS_A_PAGE, lambda one: moment_cursor(one.at, one.id))
        ids = {one.event.build_id for one in events if one.event.build_id is not None}
        return Found(events, await list_store.named(tx, sorted(ids)), more)
