"""A file of a bundle as an answer: whole, a part of it, or that the browser has it already."""

from collections.abc import AsyncIterator
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from storyshelf.bundle.manifest import BundledFile
from storyshelf.bundle.media_types import media_type
from storyshelf.ids import BlobKey
from storyshelf.publishing.ranges import Part, Unsatisfiable, asked_part, is_known
from storyshelf.storage.blobs import Blobs

CHUNK_BYTES = 1 << 20  # what one request holds of a file, however large it is
# A build never changes, but a slug may be another project's later, and what was open may be closed:
# after five minutes a browser asks again, and by the hash it is told that it has the file already.
FOR_MEMBERS = "private, max-age=300"
FOR_ALL = "public, max-age=300"
ASKED = "private, no-cache"
TRACE_NAME = "trace.zip"
TEXTS = (
    "text/",
    "application/json",
    "application/xml",
    "application/xhtml",
    "application/manifest",
)


async def file_answer(blobs: Blobs, file: BundledFile, request: Request, caching: str) -> Response:
    """Return what the request asks of the file; raises MissingBlobError before anything is sent."""
    asked, etag = request.headers, f'"{file.sha256}"'
    headers = {"etag": etag, "cache-control": caching, "accept-ranges": "bytes"}
    if is_known(asked.get("if-none-match"), etag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    wanted = asked.get("range") if asked.get("if-range", etag) == etag else None
    asked_for = asked_part(wanted, file.size_bytes)
    if isinstance(asked_for, Unsatisfiable):
        return _unsatisfiable(file)
    part = asked_for or Part(0, file.size_bytes)
    status = HTTPStatus.PARTIAL_CONTENT if asked_for else HTTPStatus.OK
    if asked_for:
        headers["content-range"] = f"bytes {part.start}-{part.end - 1}/{file.size_bytes}"
    headers |= {"content-length": str(part.size_bytes), "content-type": content_type(file.path)}
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers)
    first = await blobs.read_part(file.sha256, part.start, min(CHUNK_BYTES, part.size_bytes))
    return StreamingResponse(_chunks(blobs, file, part, first), status, headers)


async def trace_answer(blobs: Blobs, trace: tuple[BlobKey, int], request: Request) -> Response:
    """Return a stored trace: for the viewer, part by part, or to be kept as a file.

    It may be recorded anew under the same address, so the browser asks each time.
    """
    key, size_bytes = trace
    answer = await file_answer(blobs, BundledFile(TRACE_NAME, key, size_bytes), request, ASKED)
    answer.headers["content-disposition"] = f'attachment; filename="{TRACE_NAME}"'
    return answer


def _unsatisfiable(file: BundledFile) -> Response:
    headers = {"content-range": f"bytes */{file.size_bytes}", "cache-control": "no-store"}
    return Response(status_code=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers)


def content_type(path: str) -> str:
    """Return the file's type; texts are UTF-8, as everything that Storybook writes."""
    kind = media_type(path)
    return f"{kind}; charset=utf-8" if kind.startswith(TEXTS) else kind


async def _chunks(
    blobs: Blobs, file: BundledFile, part: Part, first: bytes
) -> AsyncIterator[bytes]:
    yield first
    position = part.start + len(first)
    while first and position < part.end:
        size_bytes = min(CHUNK_BYTES, part.end - position)
        first = await blobs.read_part(file.sha256, position, size_bytes)
        position += len(first)
        yield first
