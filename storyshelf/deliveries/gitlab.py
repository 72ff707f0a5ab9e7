"""GitLab: commit statuses, and notes of merge requests.

A status there is a job with a life of its own: what is pending cannot become pending, and says so.
That the machine works is told as pending and that people decide as running, so that the second can
be told after the first.
"""

from datetime import datetime
from urllib.parse import quote

from storyshelf.deliveries.answers import inside, require_ok, shown
from storyshelf.deliveries.comment import comment_body, marker_of
from storyshelf.deliveries.connection import Forge
from storyshelf.deliveries.message import Check
from storyshelf.deliveries.outbound import Ask
from storyshelf.deliveries.own_comments import ours
from storyshelf.deliveries.rest_api import RestApi
from storyshelf.deliveries.wish import CommentWish, StatusWish

BAD_REQUEST = 400
SAID_ALREADY = "cannot transition status"
STATES = {
    Check.WORKING: "pending",
    Check.WAITING: "running",
    Check.SUCCESS: "success",
    Check.FAILURE: "failed",
    Check.ERROR: "failed",
    Check.CANCELLED: "canceled",
}
DEVELOPER = 30  # the least level that may set a status


class Gitlab:
    """One project, with one token."""

    def __init__(self, forge: Forge, api: RestApi) -> None:
        self._forge = forge
        self._api = api
        self._root = f"/projects/{quote(forge.repository, safe='')}"

    async def say_status(self, wish: StatusWish, root: str) -> None:
        """Set a status; that it stands there already is no failure."""
        said = {
            "state": STATES[wish.check],
            "name": wish.context,
            "description": wish.description,
            "target_url": f"{root}{wish.path}",
        }
        path = f"{self._root}/statuses/{quote(wish.commit, safe='')}"
        answer = await self._api.send("POST", path, said)
        if answer.status == BAD_REQUEST and SAID_ALREADY in answer.words.lower():
            return
        require_ok(answer, self._api.now)

    async def say_comment(self, wish: CommentWish, root: str) -> None:
        """Have one note of ours that says this, whatever was there."""
        said = {"body": comment_body(wish, root, self._forge.marker)}
        path = f"{self._root}/merge_requests/{wish.pull_request}/notes"
        listed = self._api.each(f"{path}?sort=asc&order_by=created_at")
        found = await ours(listed, marker_of(self._forge.marker), by="author")
        if not found:
            await self._api.done("POST", path, said)
            return
        await self._api.done("PUT", f"{path}/{found[0]}", said)
        for double in found[1:]:
            await self._api.done("DELETE", f"{path}/{double}")

    async def look(self) -> str:
        """Return what the forge says of the project; raises TryLaterError, RefusedError."""
        found = await self._api.done("GET", self._root)
        name = shown(inside(found, "path_with_namespace"))
        may = "may set statuses" if _level(found) >= DEVELOPER else "may only read it"
        return f"{name or self._forge.repository} is there, and the token {may}."


def gitlab(forge: Forge, token: str, ask: Ask, now: datetime) -> Gitlab:
    """Return the project as it is asked with the token."""
    return Gitlab(forge, RestApi(ask, forge.api_url, {"private-token": token}, now))


def _level(found: object) -> int:
    accesses = ("project_access", "group_access")
    levels = [inside(found, "permissions", each, "access_level") for each in accesses]
    return max((level for level in levels if isinstance(level, int)), default=0)
