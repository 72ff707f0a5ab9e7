"""Pictures, masks and frames."""

from fastapi import APIRouter, Request, Response

from storyshelf.auth.permissions import Action
from storyshelf.ids import BlobKey
from storyshelf.web.caller import CallerFirst, WithParts, WithProject, needs
from storyshelf.web.images import image_answer

router = APIRouter(
    prefix="/projects/{slug}/images",
    tags=["images"],
    route_class=CallerFirst,
    dependencies=[needs(Action.VIEW)],
)


@router.get("/{sha256}", response_class=Response, responses={200: {"content": {"image/png": {}}}})
async def show_image(
    sha256: str, project: WithProject, parts: WithParts, request: Request
) -> Response:
    """Return a picture, mask or frame; its link can be cached for ever."""
    return await image_answer(parts, project, BlobKey(sha256), request)
