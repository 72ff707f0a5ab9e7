"""How still a project's stories hold from one build to the next."""

from collections.abc import Sequence

from fastapi import APIRouter
from pydantic import BaseModel

from storyshelf.auth.permissions import Action
from storyshelf.snapshots import steadiness_store
from storyshelf.snapshots.steadiness import Level
from storyshelf.web.caller import CallerFirst, WithParts, WithProject, needs

router = APIRouter(
    prefix="/projects/{slug}/flakiest",
    tags=["snapshots"],
    route_class=CallerFirst,
    dependencies=[needs(Action.VIEW)],
)
MOST = 100  # more are not looked at one by one


class SteadinessOut(BaseModel):
    """What is remembered of one snapshot; `flake_score` is the share of its latest captures."""

    story_id: str
    mode: str
    browser: str
    level: Level
    captures: int
    needed_more: int
    unstable: int
    flake_score: float


@router.get("")
async def list_flakiest(project: WithProject, parts: WithParts) -> Sequence[SteadinessOut]:
    """Return the snapshots that hold still the least, the worst first."""
    async with parts.db.transaction() as tx:
        found = await steadiness_store.flakiest(tx, project.id, MOST)
    return [
        SteadinessOut(
            story_id=one.key.story_id,
            mode=one.key.mode,
            browser=one.key.browser,
            level=one.level,
            captures=one.captures,
            needed_more=one.needed_more,
            unstable=one.unstable,
            flake_score=round(one.flakiness, 3),
        )
        for one in found
    ]
