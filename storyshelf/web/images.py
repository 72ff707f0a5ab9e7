"""Pictures, masks and frames by their content: what a link names can never change."""

from fastapi import Request, Response

from storyshelf.diff.png_header import SIGNATURE
from storyshelf.ids import BlobKey
from storyshelf.projects.project import Project
from storyshelf.storage import store as blob_rows
from storyshelf.storage.blobs import MissingBlobError
from storyshelf.wiring import Parts

FOREVER = "private, max-age=31536000, immutable"


async def image_answer(parts: Parts, project: Project, key: BlobKey, request: Request) -> Response:
    """Return a picture of the project; raises MissingBlobError for anything else.

    A file of an uploaded bundle is in the same storage: only a PNG is given out here, and never as
    something that a browser would run.
    """
    headers = {
        "Cache-Control": FOREVER,
        "ETag": f'"{key}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'",
    }
    async with parts.db.transaction() as tx:
        if not await blob_rows.belongs_to(tx, project.id, key):
            raise MissingBlobError(key)
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    content = await parts.blobs.read(key)
    if not content.startswith(SIGNATURE):
        raise MissingBlobError(key)
    return Response(content, media_type="image/png", headers=headers)
