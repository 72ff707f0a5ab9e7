"""The ways from the pages into the published Storybooks, which live on hosts of their own."""

from functools import partial
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query
from fastapi.responses import RedirectResponse

from storyshelf.auth.permissions import Action
from storyshelf.web.caller import WithBuild, WithParts, WithProject, WithVisitor, needs
from storyshelf.web.hand_over import hand_over
from storyshelf.web.hosts import ContentHosts
from storyshelf.web.links import with_query

router = APIRouter(include_in_schema=False, default_response_class=RedirectResponse)
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}

Story = Annotated[str, Query(alias="path", max_length=1_000)]  # as in Storybook's own addresses


class Guide:
    """Leads a member from a page to the same project's content host."""

    def __init__(self, project: WithProject, visitor: WithVisitor, parts: WithParts) -> None:
        self._origin = ContentHosts.of(parts.content_domain, parts.public_url).origin(project.slug)
        self._note = partial(
            hand_over, parts.secrets, project.id, visitor.session_id, now=parts.clock.now()
        )

    def to(self, folder: str, story: str) -> RedirectResponse:
        """Return the way to a story in the folder; none: to the Storybook's first."""
        return self.to_path(with_query(folder, {"path": story}))

    def to_path(self, target: str) -> RedirectResponse:
        """Return the way to a path of that host."""
        address = with_query(f"{self._origin}/enter", {"note": self._note(target)})
        return RedirectResponse(address, HTTPStatus.SEE_OTHER, HEADERS)


WithGuide = Annotated[Guide, Depends()]


@router.get("/projects/{slug}/builds/{number}/storybook", dependencies=[needs(Action.VIEW)])
async def enter_build(build: WithBuild, guide: WithGuide, story: Story = "") -> RedirectResponse:
    """Lead into a build's Storybook."""
    return guide.to(f"/builds/{build.number}/", story)


@router.get("/projects/{slug}/branches/{branch:path}/storybook", dependencies=[needs(Action.VIEW)])
async def enter_branch(branch: str, guide: WithGuide, story: Story = "") -> RedirectResponse:
    """Lead into the Storybook of the branch's newest build."""
    return guide.to(f"/branches/{quote(branch, safe='')}/", story)
