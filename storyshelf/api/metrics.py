"""The figures of the service for Prometheus, for whoever has the token or is on this machine."""

from itertools import chain

from fastapi import APIRouter, Request, Response

from storyshelf.auth.metrics_token import is_sent
from storyshelf.auth.nearby import is_from_here
from storyshelf.errors import StoryshelfError
from storyshelf.operations.exposition import MEDIA_TYPE, exposition
from storyshelf.operations.service_metrics import service_families, service_now
from storyshelf.web.caller import WithParts

router = APIRouter(include_in_schema=False)


class MetricsNotShownError(StoryshelfError):
    """A scrape from another machine, and no token was set that it could send."""

    http_status = 404

    def __init__(self) -> None:
        super().__init__(
            "The figures are shown on the server's own machine only",
            where="/metrics",
            next_step="Set STORYSHELF_METRICS_TOKEN, and have the scraper send it as bearer token.",
        )


class WrongMetricsTokenError(StoryshelfError):
    """A scrape without the token that was set."""

    http_status = 401

    def __init__(self) -> None:
        super().__init__(
            "The figures are shown to whoever sends their token",
            where="/metrics",
            next_step="Send STORYSHELF_METRICS_TOKEN as `Authorization: Bearer <token>`.",
        )


@router.get("/metrics")
async def metrics(request: Request, parts: WithParts) -> Response:
    """Answer a scrape; raises MetricsNotShownError, WrongMetricsTokenError."""
    require_scraper(request, parts.metrics_token)
    async with parts.db.transaction() as tx:
        service = await service_now(tx)
    families = chain(parts.standing.families(), service_families(service, parts.clock.now()))
    return Response(exposition(families), media_type=MEDIA_TYPE)


def require_scraper(request: Request, token: str | None) -> None:
    """Go on for who sends the token; without one, for who asks on this machine and for itself."""
    if token is None:
        client = None if request.client is None else request.client.host
        if not is_from_here(client, request.headers):
            raise MetricsNotShownError
    elif not is_sent(request.headers.get("authorization"), token):
        raise WrongMetricsTokenError
