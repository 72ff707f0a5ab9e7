"""Style sheets and scripts, read once; a link names the content, so it can be cached for ever."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from storyshelf.errors import StoryshelfError

MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LIBRARIES = ("htmx.js", "idiomorph.js")  # see requirements/vendor.sh
DIGEST_LENGTH = 12
FOREVER = "public, max-age=31536000, immutable"

router = APIRouter(prefix="/static", include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file."""

    link: str
    content: bytes
    media_type: str


class MissingLibraryError(StoryshelfError):
    """A library that pages are served with is not in the folder it is copied to."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The library {name} of the pages is missing",
            where=f"storyshelf/ui/static/vendor/{name}",
            next_step="Run `make setup`: it copies the libraries from npm's packages.",
        )


def read_assets(static: Traversable) -> dict[str, Asset]:
    """Read the folder: what is not in it by name cannot be asked for, whatever the path.

    Raises MissingLibraryError where set-up was not run, or not to its end.
    """
    own = [file for file in static.iterdir() if file.is_file()]
    libraries = [static.joinpath("vendor", name) for name in LIBRARIES]
    for library in libraries:
        if not library.is_file():
            raise MissingLibraryError(library.name)
    return {file.name: _asset(file) for file in [*own, *libraries]}


def _asset(file: Traversable) -> Asset:
    content = file.read_bytes()
    suffix = file.name[file.name.rfind(".") :]
    digest = sha256(content).hexdigest()[:DIGEST_LENGTH]
    return Asset(f"/static/{digest}/{file.name}", content, MEDIA_TYPES[suffix])


ASSETS = read_assets(files("storyshelf.ui").joinpath("static"))


@router.get("/{digest}/{name}")
async def show_asset(digest: str, name: str) -> Response:
    """Return a static file; an old link of it is no link any more."""
    asset = ASSETS.get(name)
    if asset is None or asset.link != f"/static/{digest}/{name}":
        raise HTTPException(404)
    headers = {"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(asset.content, media_type=asset.media_type, headers=headers)
