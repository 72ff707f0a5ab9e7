"""Where a browser says that a request is from, compared with where it goes to."""

from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request


def comes_from_here(request: Request) -> bool | None:
    """Tell whether the Origin is the host that is asked; None: the browser sent none."""
    origin = request.headers.get("origin")
    if origin is None:
        return None
    parts = split(origin)
    return parts is not None and parts.netloc == request.headers.get("host")


def split(address: str) -> SplitResult | None:
    """Return the parts of an address that somebody sent; None where it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return None
