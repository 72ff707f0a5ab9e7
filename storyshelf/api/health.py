"""Whether the process lives, and whether it can do its work."""

import asyncio

from fastapi import APIRouter, Response
from sqlalchemy import text

from storyshelf.web.caller import WithParts

READY_WITHIN_S = 3.0  # whoever asks has a limit of its own, and no answer says less than this one

router = APIRouter(prefix="/health", tags=["health"])


@router.get("/live")
async def live() -> dict[str, str]:
    """Answer: the process lives."""
    return {"status": "live"}


@router.get("/ready")
async def ready(parts: WithParts, response: Response) -> dict[str, str]:
    """Answer whether requests can be served: the database answers."""
    try:
        async with asyncio.timeout(READY_WITHIN_S), parts.db.transaction() as tx:
            await tx.execute(text("SELECT 1"))
    except Exception as error:  # noqa: BLE001  # whatever it is, it is why we are not ready
        response.status_code = 503
        return {"status": "not ready", "why": f"database: {type(error).__name__}"}
    return {"status": "ready"}
