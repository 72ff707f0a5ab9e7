"""Serves one bundle at a time, on a loopback port of the child's own, to the child's own browser.

A request names a path of the manifest and gets the blob that the manifest names; no path of a URL
ever reaches the disk. Only the Host of the open build is answered, so that two builds never share
an origin. The Content-Security-Policy is the second lock of the network fence: it keeps requests
at home and allows everything else that built Storybooks do to themselves. What it refuses, the
browser reports back to here, from workers and frames too.
"""

import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from consumer.loopback import LOOPBACK, served
from consumer.refusals import MAX_REPORT_BYTES, REPORT_PATH, Refusal, parse_report
from storyshelf.bundle.base import MAX_HTML, base_of
from storyshelf.bundle.media_types import media_type
from storyshelf.ids import BlobKey

RANGE = re.compile(rb"bytes=(?=[0-9-]*[0-9])([0-9]{0,15})-([0-9]{0,15})")
STOP_WITHIN_S = 2  # a page that holds a response open does not hold up the end of the child
REFERRER = {"referrer-policy": "same-origin"}
HEADERS = {
    # Not on refusals: the browser would drop a refused style sheet before it tells of the refusal,
    # and nobody would hear that a file is missing. What they say is plain and percent-encoded.
    "x-content-type-options": "nosniff",
    # A build's host never serves other bytes under the same path.
    "cache-control": "public, max-age=31536000, immutable",
    # Fixed: `document.lastModified` would show when this machine stored the blob.
    "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT",
}


def fence_policy(allowed: Sequence[str] = ()) -> str:
    """Return the policy that keeps requests at home, or at hosts such as `*.a.test:8443`.

    No form-action: a form that leaves the page is to be seen leaving, as any navigation is.
    """
    hosts = "".join(f" http://{host} https://{host}" for host in allowed)
    sources = f"'self' 'unsafe-inline' 'unsafe-eval' blob: data:{hosts}"
    return f"default-src {sources}; webrtc 'block'; report-uri {REPORT_PATH}"


@dataclass(frozen=True, slots=True)
class ServedBundle:
    """The bundle that is open: its host, the folder of blobs, path -> blob, its pages' policy."""

    host: str
    root: Path
    keys: Mapping[str, BlobKey]
    policy: str = fence_policy()
    base: str = "/"  # what it was built to be served from; it is served from `/` besides


def base_in(root: Path, keys: Mapping[str, BlobKey]) -> str:
    """Return the path that the bundle in this folder was built to be served from."""
    preview = keys.get("iframe.html")
    if preview is None or not (root / preview).is_file():
        return "/"
    with (root / preview).open(encoding="utf-8", errors="replace") as html:
        return base_of(html.read(MAX_HTML), keys)


class BundleServer:
    """The ASGI application and what it serves at the moment: nothing, at first."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.on_refusal: Callable[[Refusal], None] = lambda _: None
        self._bundle: ServedBundle | None = None

    def serve(self, bundle: ServedBundle) -> str:
        """Answer for this bundle from now on; return its origin."""
        self._bundle = bundle
        return f"http://{bundle.host}:{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            return
        fence = REFERRER | self._policy()

        async def send_fenced(message: Message) -> None:
            # On refusals too, whoever makes them: a page can open one in a frame, whose `fetch`
            # obeys the frame's policy alone.
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(fence)
            await send(message)

        request = Request(_with_plain_range(scope), receive)
        answer = await self._answer(request)
        await answer(request.scope, receive, send_fenced)

    def _policy(self) -> dict[str, str]:
        policy = fence_policy() if self._bundle is None else self._bundle.policy
        return {"content-security-policy": policy}

    async def _answer(self, request: Request) -> Response:
        bundle = self._bundle
        if bundle is None or request.headers.get("host") != f"{bundle.host}:{self.port}":
            return _refusal("This host is not the open build's", 421)
        if request.method == "POST" and request.scope["path"] == REPORT_PATH:
            return await self._note_report(request)
        if request.method not in {"GET", "HEAD"}:
            return _refusal("Only GET and HEAD are answered", 405)
        path = _manifest_path(request.scope["path"], bundle)
        key = bundle.keys.get(path)
        if key is None:
            return _refusal(f"{quote(path[:200])} is not in the bundle", 404)
        return _blob(bundle.root / key, key, path, request.headers.get("if-none-match"))

    async def _note_report(self, request: Request) -> Response:
        body = bytearray()
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_REPORT_BYTES:
                    return _refusal("This is no report of a browser", 413)
        except ClientDisconnect:
            return _refusal("The report was not sent to its end", 400)
        refusal = parse_report(bytes(body))
        if refusal is not None:
            self.on_refusal(refusal)
        return Response(status_code=204)


@asynccontextmanager
async def bundle_server() -> AsyncIterator[BundleServer]:
    """Listen on a free loopback port for as long as the block lasts."""
    listener = socket.create_server((LOOPBACK, 0))
    application = BundleServer(listener.getsockname()[1])
    async with served(application, listener, stop_within_s=STOP_WITHIN_S):
        yield application


def _manifest_path(url_path: str, bundle: ServedBundle) -> str:
    """Return the file that is asked for; one that is there by its whole path goes first."""
    asked = url_path.removeprefix("/")
    path = f"{asked}index.html" if asked == "" or asked.endswith("/") else asked
    if path not in bundle.keys and url_path.startswith(bundle.base):
        return path.removeprefix(bundle.base.removeprefix("/"))
    return path


def _with_plain_range(scope: Scope) -> Scope:
    """Leave a range out that is not a single one: the whole file is an answer to any."""
    plain = [pair for pair in scope["headers"] if pair[0] != b"range" or _is_plain(pair[1])]
    return {**scope, "headers": plain}


def _is_plain(header: bytes) -> bool:
    found = RANGE.fullmatch(header)
    return found is not None and not (found[1] and found[2] and int(found[1]) > int(found[2]))


def _blob(file: Path, key: BlobKey, path: str, known: str | None) -> Response:
    etag = f'"{key}"'
    if known == etag:
        return Response(status_code=304, headers=HEADERS | {"etag": etag})
    if not file.is_file():
        return _refusal(f"the blob of {quote(path[:200])} is missing on this machine", 500)
    return FileResponse(file, headers=HEADERS | {"etag": etag}, media_type=media_type(path))


def _refusal(text: str, status: int) -> Response:
    return PlainTextResponse(f"{text}.\n", status)
