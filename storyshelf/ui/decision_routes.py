"""Decisions taken on pages: a form comes, the answer leads on to where the reviewer goes next.

What moved since the reviewer looked is refused with a page that says so and leads back. Script
sends the same forms and gets the same answers.
"""

from http import HTTPStatus
from typing import Annotated, Literal, Self
from urllib.parse import parse_qsl

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, ValidationError

from storyshelf.auth.permissions import Action, Who
from storyshelf.builds.build import Build
from storyshelf.errors import BadInputError
from storyshelf.ids import SnapshotId
from storyshelf.projects.project import Project
from storyshelf.review import strip
from storyshelf.review.decide import Decided, Seen, Waiting, decide, decide_all, take_back
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.choice import MAX_TEXT, MAX_TITLE, Choice
from storyshelf.web.caller import CallerFirst, WithBuild, WithProject, WithWho, needs, parts_of
from storyshelf.web.links import Links, with_query
from storyshelf.web.own_path import MAX_PATH, own_path
from storyshelf.wiring import Parts

router = APIRouter(include_in_schema=False, route_class=CallerFirst)

MAX_NAMED = 500  # in one form; more are decided by what they have in common
NEXT = "next"

Named = Annotated[str, StringConstraints(pattern=r"^\d{1,18}:(none|accepted|denied)$")]


class DecisionForm(BaseModel):
    """What a form decides: named snapshots, all that wait of a choice, or what was taken before."""

    decision: Decision
    snapshot: list[Named] = Field([], max_length=MAX_NAMED)  # each with the decision that was seen
    all: Literal["", "1"] = ""
    verdict: Verdict | Literal[""] = ""  # these narrow `all`
    q: str = Field("", max_length=MAX_TEXT)
    component: str = Field("", max_length=MAX_TITLE)
    waiting: int | None = Field(None, ge=0)  # how many of `all` the reviewer saw
    taken: AwareDatetime | None = None  # what the visitor decided at this moment is taken back
    then: str = Field("", max_length=MAX_PATH)

    @property
    def named(self) -> list[Seen]:
        """Return the named snapshots with the decisions that were seen on them."""
        pairs = (one.split(":") for one in self.snapshot)
        return [Seen(SnapshotId(int(number)), Decision(seen)) for number, seen in pairs]

    def require_one_wish(self) -> Self:
        """Go on if it says what it decides; raises NothingChosenError."""
        if [bool(self.snapshot), bool(self.all), self.taken is not None].count(True) != 1:
            raise NothingChosenError
        return self


class NothingChosenError(BadInputError):
    """A form that names no snapshot, or more than one sort of wish."""

    def __init__(self) -> None:
        super().__init__(
            "No snapshot is chosen",
            next_step="Go back, choose the snapshots that you decide, and send them again.",
        )


@router.post("/projects/{slug}/builds/{number}/decisions", dependencies=[needs(Action.DECIDE)])
async def take_decision(
    request: Request,
    project: WithProject,
    build: WithBuild,
    who: WithWho,
    form: Annotated[DecisionForm, Form()],
) -> Response:
    """Decide, and lead on to where the form says, or to what waits next."""
    parts = parts_of(request)
    request.state.back = _back(project, build, form)
    await _decide(parts, build, form.require_one_wish(), who)
    onward = await _onward(parts, project, build, form)
    return RedirectResponse(onward, HTTPStatus.SEE_OTHER)


async def _decide(parts: Parts, build: Build, form: DecisionForm, who: Who) -> Decided:
    if form.taken is not None:
        return await take_back(parts.db, build.id, form.taken, who)
    if form.all:
        among = Among(form.verdict or None, text=form.q.strip(), component=form.component)
        waiting = Waiting(among, form.waiting)
        return await decide_all(parts.db, build.id, form.decision, who, waiting)
    return await decide(parts.db, build.id, form.named, form.decision, who)


async def _onward(parts: Parts, project: Project, build: Build, form: DecisionForm) -> str:
    """Return the link that the form asks for; `next?verdict=changed` stays in that choice."""
    wanted, _, query = form.then.partition("?")
    if wanted != NEXT or not form.snapshot:
        return _back(project, build, form)
    choice = _choice_of(query)
    async with parts.db.transaction() as tx:
        here = form.named[-1].id
        among = choice.among
        waits = await strip.next_undecided(tx, build, here, among)
    links, slug = Links(), project.slug
    link = links.snapshot(slug, build.number, waits) if waits else links.build(slug, build.number)
    return with_query(link, choice.query)


def _choice_of(query: str) -> Choice:
    try:
        return Choice.model_validate(dict(parse_qsl(query)))
    except ValidationError:
        return Choice()


def _back(project: Project, build: Build, form: DecisionForm) -> str:
    """Return where the form was sent from, as far as it says."""
    links = Links()
    link = links.build(project.slug, build.number)
    if form.snapshot:
        link = links.snapshot(project.slug, build.number, form.named[0].id)
    return own_path(form.then, otherwise=link)
