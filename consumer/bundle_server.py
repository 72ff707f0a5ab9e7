"""Serves one bundle at a time, on a loopback port of the child's own, to the child's own browser.

A request names a path of the manifest and gets the blob that the manifest names; no path of a URL
ever reaches the disk. Only the Host of the open build is answered, so that two builds never share
an origin. The Content-Security-Policy is the second lock of the network fence: it keeps requests
at home and allows everything else that built Storybooks do to themselves.
"""

import mimetypes
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from consumer.loopback import LOOPBACK, served
from storyshelf.ids import BlobKey

STOP_WITHIN_S = 2  # a page that holds a response open does not hold up the end of the child
# Where the machine's own table is wrong or silent, and a browser refuses what it calls text/plain.
MEDIA_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".cjs": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".wasm": "application/wasm",
    ".html": "text/html",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ico": "image/x-icon",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".otf": "font/otf",
    ".webmanifest": "application/manifest+json",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}
# On refusals too: a page can open one in a frame, whose `fetch` obeys the frame's policy alone.
FENCE = {
    # No form-action: a form that leaves the page is to be seen leaving, as any navigation is.
    "content-security-policy": (
        "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:; webrtc 'block'"
    ),
    "referrer-policy": "same-origin",
}
HEADERS = FENCE | {
    # Not on refusals: the browser would drop a refused style sheet before it tells of the refusal,
    # and nobody would hear that a file is missing. What they say is plain and percent-encoded.
    "x-content-type-options": "nosniff",
    # A build's host never serves other bytes under the same path.
    "cache-control": "public, max-age=31536000, immutable",
    # Fixed: `document.lastModified` would show when this machine stored the blob.
    "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT",
}


@dataclass(frozen=True, slots=True)
class ServedBundle:
    """The bundle that is open: its host, the folder of blobs, and path -> blob."""

    host: str
    root: Path
    keys: Mapping[str, BlobKey]


class BundleServer:
    """The ASGI application and what it serves at the moment: nothing, at first."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._bundle: ServedBundle | None = None

    def serve(self, bundle: ServedBundle) -> str:
        """Answer for this bundle from now on; return its origin."""
        self._bundle = bundle
        return f"http://{bundle.host}:{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            return
        await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        bundle = self._bundle
        if bundle is None or request.headers.get("host") != f"{bundle.host}:{self.port}":
            return _refusal("This host is not the open build's", 421)
        if request.method not in {"GET", "HEAD"}:
            return _refusal("Only GET and HEAD are answered", 405)
        path = _manifest_path(request.scope["path"])
        key = bundle.keys.get(path)
        if key is None:
            return _refusal(f"{quote(path[:200])} is not in the bundle", 404)
        return _blob(bundle.root / key, key, path, request.headers.get("if-none-match"))


@asynccontextmanager
async def bundle_server() -> AsyncIterator[BundleServer]:
    """Listen on a free loopback port for as long as the block lasts."""
    listener = socket.create_server((LOOPBACK, 0))
    application = BundleServer(listener.getsockname()[1])
    async with served(application, listener, stop_within_s=STOP_WITHIN_S):
        yield application


def _manifest_path(url_path: str) -> str:
    path = url_path.removeprefix("/")
    return f"{path}index.html" if path == "" or path.endswith("/") else path


def _blob(file: Path, key: BlobKey, path: str, known: str | None) -> Response:
    etag = f'"{key}"'
    if known == etag:
        return Response(status_code=304, headers=HEADERS | {"etag": etag})
    if not file.is_file():
        return _refusal(f"the blob of {quote(path[:200])} is missing on this machine", 500)
    return FileResponse(file, headers=HEADERS | {"etag": etag}, media_type=media_type(path))


def media_type(path: str) -> str:
    """Return what the browser is told that the file is."""
    suffix = Path(path).suffix.lower()
    return MEDIA_TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"


def _refusal(text: str, status: int) -> Response:
    return PlainTextResponse(f"{text}.\n", status, FENCE)
