"""Every route that the app answers by, with the routers that are nested in it."""

from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.routing import _IncludedRouter
from starlette.routing import BaseRoute, Route

IMPLIED = {"HEAD", "OPTIONS"}


def routes_of(app: FastAPI) -> set[str]:
    """Return each as its method and path: `GET /projects/{slug}`."""
    return {
        f"{method} {path}"
        for route in app.routes
        for path, methods in _below(route)
        for method in methods - IMPLIED
    }


def _below(route: BaseRoute) -> Iterator[tuple[str, set[str]]]:
    if isinstance(route, _IncludedRouter):
        for candidate in route.effective_candidates():
            if isinstance(candidate, _IncludedRouter):
                yield from _below(candidate)
            else:
                yield candidate.path, set(candidate.methods)
        return
    assert isinstance(route, Route), f"{route!r} is answered by what the table cannot see"
    yield route.path, set(route.methods or ())
