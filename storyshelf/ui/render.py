"""Turn a view model into an HTML answer, with the headers that every page carries."""

from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

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

TEMPLATES = Environment(
    loader=PackageLoader("storyshelf.ui"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals["assets"] = {name: asset.link for name, asset in ASSETS.items()}
TEMPLATES.globals["version"] = own_version()


def render(template: str, page: Any, status: int = HTTPStatus.OK) -> HTMLResponse:
    """Return the page; the template sees the view model and nothing else."""
    html = TEMPLATES.get_template(template).render(page=page)
    return HTMLResponse(html, status, HEADERS)


def problem_page(_request: Request, problem: Problem) -> HTMLResponse:
    """Return a problem as a page."""
    answer = render("problem.html", problem, problem.status)
    answer.headers.update(problem.headers)
    return answer
