"""Style sheets and scripts, read once; a link names the content, so it can be cached for ever."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DIGEST_LENGTH = 12
FOREVER = "public, max-age=31536000, immutable"

router = APIRouter(prefix="/static", include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file."""

    link: str
    content: bytes
    media_type: str


def _read() -> dict[str, Asset]:
    """Read the folder: what is not in it by name cannot be asked for, whatever the path."""
    found = {}
    for file in files("storyshelf.ui").joinpath("static").iterdir():
        content = file.read_bytes()
        suffix = file.name[file.name.rfind(".") :]
        digest = sha256(content).hexdigest()[:DIGEST_LENGTH]
        link = f"/static/{digest}/{file.name}"
        found[file.name] = Asset(link, content, MEDIA_TYPES[suffix])
    return found


ASSETS = _read()


@router.get("/{digest}/{name}")
async def show_asset(digest: str, name: str) -> Response:
    """Return a static file; an old link of it is no link any more."""
    asset = ASSETS.get(name)
    if asset is None or asset.link != f"/static/{digest}/{name}":
        raise HTTPException(404)
    headers = {"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(asset.content, media_type=asset.media_type, headers=headers)
