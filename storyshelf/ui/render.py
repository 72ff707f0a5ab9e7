"""Turn a view model into an HTML answer, with the headers that every page carries."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from storyshelf.auth.signed_in import SignedIn
from storyshelf.client.version import own_version
from storyshelf.ui.assets import ASSETS
from storyshelf.web.problems import Problem

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "private, no-cache",  # a page is out of date as soon as somebody decides
}

UNSEEN = {"Cache-Control": "no-store"}  # a page that names a secret is kept nowhere
INTO_THE_NOTICE = {"HX-Retarget": "#notice", "HX-Reselect": "#problem", "HX-Reswap": "innerHTML"}

TEMPLATES = Environment(
    loader=PackageLoader("storyshelf.ui"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals["assets"] = {name: asset.link for name, asset in ASSETS.items()}
TEMPLATES.globals["version"] = own_version()


@dataclass(frozen=True, slots=True)
class ProblemPage:
    """What went wrong, and the page to go back to, where one is known."""

    problem: Problem
    back: str | None


def render(request: Request, template: str, page: Any, status: int = HTTPStatus.OK) -> HTMLResponse:
    """Return the page; the template sees the view model, and who is signed in."""
    who = getattr(request.state, "who", None)
    visitor = who if isinstance(who, SignedIn) else None
    html = TEMPLATES.get_template(template).render(page=page, visitor=visitor)
    return HTMLResponse(html, status, HEADERS)


def problem_page(request: Request, problem: Problem) -> HTMLResponse:
    """Return a problem as a page, which script puts into the notice of the page that is open.

    A route that was sent to from a page says in `request.state.back` where that is.
    """
    back = getattr(request.state, "back", None)
    answer = render(request, "problem.html", ProblemPage(problem, back), problem.status)
    answer.headers.update(problem.headers)
    if request.headers.get("hx-request"):
        answer.headers.update(INTO_THE_NOTICE)
    return answer
