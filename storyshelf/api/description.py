"""The API's description of itself, with what FastAPI cannot know: how it refuses, and its tokens.

Every refusal is a problem, whatever the route: a class of statuses is described once, and a route
adds only what is its own.
"""

from typing import Any

from pydantic import BaseModel

from storyshelf.web.problems import MEDIA_TYPE

OPEN = ("/health/", "/api/v1/limits")  # asked without a token
REFUSED = "Refused: `what` says why, `where` on what, `next_step` what to do about it."
AWAY = "The database does not answer; try again after the seconds of `Retry-After`."
SCHEME = "token"


class ProblemOut(BaseModel):
    """An error: what is wrong, where, and what to do next."""

    type: str
    title: str
    status: int
    what: str
    where: str
    next_step: str
    missing: list[str] | None = None


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document with refusals and tokens in it; twice is as once."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):  # a malformed request is a problem
        schemas.pop(unused, None)
    schemas["Problem"] = ProblemOut.model_json_schema()
    components["securitySchemes"] = {SCHEME: {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(path, operation)
    return document


def _complete(path: str, operation: dict[str, Any]) -> None:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    responses = operation["responses"]
    responses.pop("422", None)
    if path.startswith("/api/"):
        responses["4XX"] = {"description": REFUSED, "content": content}
        responses["503"] = {"description": AWAY, "content": content}
    if not path.startswith(OPEN):
        operation["security"] = [{SCHEME: []}]
