"""The viewer of traces: Playwright's own, as it lies in the package that records them.

It shows what an uploaded Storybook drew, so it is answered on content hosts alone. It also loads
whatever trace its address names, from wherever: a policy keeps it, and the service worker that it
works through, to traces of its own host, or anybody's link could put a trace of theirs there.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from storyshelf.bundle.media_types import media_type
from storyshelf.errors import StoryshelfError
from storyshelf.publishing.ranges import is_known

FOLDER = Path("driver", "package", "lib", "vite", "traceViewer")
LEFT_OUT = ("uiMode",)  # a runner's window, which listens to whom its address names
CACHING = "private, max-age=300"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; frame-src 'self' blob: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class NoViewerError(StoryshelfError):
    """The package is not here, or not as it was."""

    http_status = 503

    def __init__(self) -> None:
        super().__init__(
            "The trace viewer is not installed on this server",
            next_step="Download the trace from the snapshot's page; `npx playwright show-trace` "
            "shows it.",
        )


@dataclass(frozen=True, slots=True)
class ViewerAsset:
    """One file of it."""

    content: bytes
    media_type: str
    etag: str


def viewer_answer(path: str, request: Request) -> Response | None:
    """Return the file as an answer; None: there is none. Raises NoViewerError.

    To be called on a thread: the first call reads the folder.
    """
    asset = viewer_assets().get(path)
    if asset is None:
        return None
    headers = {"etag": asset.etag, "cache-control": CACHING, "content-security-policy": POLICY}
    if is_known(request.headers.get("if-none-match"), asset.etag):
        return Response(status_code=304, headers=headers)
    content = b"" if request.method == "HEAD" else asset.content
    headers["content-length"] = str(len(asset.content))
    return Response(content, headers=headers, media_type=asset.media_type)


@lru_cache(maxsize=1)
def viewer_assets() -> dict[str, ViewerAsset]:
    """Return every file by its path: what is not in the folder by name cannot be asked for."""
    spec = find_spec("playwright")
    top = None if spec is None or spec.origin is None else Path(spec.origin).parent / FOLDER
    if top is None or not (top / "index.html").is_file():
        raise NoViewerError
    files = (each for each in sorted(top.rglob("*")) if each.is_file())
    return {
        each.relative_to(top).as_posix(): _asset(each)
        for each in files
        if not each.name.startswith(LEFT_OUT)
    }


def _asset(file: Path) -> ViewerAsset:
    content = file.read_bytes()
    return ViewerAsset(content, media_type(file.name), f'"{sha256(content).hexdigest()}"')
