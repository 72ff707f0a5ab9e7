"""Pictures, masks and frames by their content: what a link names can never change."""

from collections.abc import AsyncIterator
from functools import partial

from fastapi import Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from storyshelf.diff.png_header import SIGNATURE, BadPngError
from storyshelf.ids import BlobKey
from storyshelf.projects.project import Project
from storyshelf.storage import store as blob_rows
from storyshelf.storage.blobs import MissingBlobError
from storyshelf.web.links import Links
from storyshelf.web.thumbnails import Thumbnails
from storyshelf.wiring import Parts

CHUNK_BYTES = 1 << 20
FOREVER = "private, max-age=31536000, immutable"


async def image_answer(parts: Parts, project: Project, key: BlobKey, request: Request) -> Response:
    """Return a picture of the project; raises MissingBlobError for anything else.

    A file of an uploaded bundle is in the same storage: only a PNG is given out here, and never as
    something that a browser would run.
    """
    headers = headers_of(key)
    await require_own(parts, project, key)
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    first = await parts.blobs.read_part(key, 0, CHUNK_BYTES)
    _require_png(key, first)
    if len(first) < CHUNK_BYTES:
        return Response(first, media_type="image/png", headers=headers)
    content = _whole(parts, key, first)
    return StreamingResponse(content, media_type="image/png", headers=headers)


async def thumbnail_answer(
    parts: Parts, project: Project, key: BlobKey, request: Request
) -> Response:
    """Return a picture made small, or lead to the picture itself where that cannot be done.

    Raises MissingBlobError as `image_answer` does.
    """
    headers = headers_of(key)
    await require_own(parts, project, key)
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    thumbnails = request.app.state.thumbnails
    assert isinstance(thumbnails, Thumbnails), "set when the app is made"
    try:
        content = await thumbnails.of(key, partial(read_png, parts))
    except BadPngError:
        return RedirectResponse(Links().image(project.slug, key), headers=headers)
    return Response(content, media_type="image/webp", headers=headers)


def headers_of(key: BlobKey) -> dict[str, str]:
    """Return the headers of content that is named by its hash and is only ever looked at."""
    return {
        "Cache-Control": FOREVER,
        "ETag": f'"{key}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'",
    }


async def require_own(parts: Parts, project: Project, key: BlobKey) -> None:
    """Go on if the project has brought the content; raises MissingBlobError."""
    async with parts.db.transaction() as tx:
        if not await blob_rows.belongs_to(tx, project.id, key):
            raise MissingBlobError(key)


async def read_png(parts: Parts, key: BlobKey) -> bytes:
    """Return the content if it is a PNG; raises MissingBlobError."""
    content = await parts.blobs.read(key)
    _require_png(key, content)
    return content


def _require_png(key: BlobKey, content: bytes) -> None:
    if not content.startswith(SIGNATURE):
        raise MissingBlobError(key)


async def _whole(parts: Parts, key: BlobKey, first: bytes) -> AsyncIterator[bytes]:
    """Yield the content; what a reader who takes his time holds of it is one chunk."""
    position, chunk = 0, first
    while chunk:
        yield chunk
        position += len(chunk)
        chunk = await parts.blobs.read_part(key, position, CHUNK_BYTES)
