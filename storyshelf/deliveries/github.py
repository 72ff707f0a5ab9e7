"""GitHub, and GitHub Enterprise by its address: commit statuses, and comments of pull requests."""

from datetime import datetime
from urllib.parse import quote

from storyshelf.deliveries.answers import inside, shown
from storyshelf.deliveries.comment import comment_body, marker_of
from storyshelf.deliveries.connection import Forge
from storyshelf.deliveries.message import Check
from storyshelf.deliveries.outbound import Ask
from storyshelf.deliveries.own_comments import ours
from storyshelf.deliveries.rest_api import RestApi
from storyshelf.deliveries.wish import CommentWish, StatusWish

STATES = {
    Check.WORKING: "pending",
    Check.WAITING: "pending",
    Check.SUCCESS: "success",
    Check.FAILURE: "failure",
    Check.ERROR: "error",
    Check.CANCELLED: "error",  # it knows no better word
}


class Github:
    """One repository, with one token."""

    def __init__(self, forge: Forge, api: RestApi) -> None:
        self._forge = forge
        self._api = api
        self._root = f"/repos/{forge.repository}"

    async def say_status(self, wish: StatusWish, root: str) -> None:
        """Add a status; the newest of a context is the one that counts."""
        said = {
            "state": STATES[wish.check],
            "context": wish.context,
            "description": wish.description,
            "target_url": f"{root}{wish.path}",
        }
        await self._api.done("POST", f"{self._root}/statuses/{quote(wish.commit, safe='')}", said)

    async def say_comment(self, wish: CommentWish, root: str) -> None:
        """Have one comment of ours that says this, whatever was there."""
        said = {"body": comment_body(wish, root, self._forge.marker)}
        path = f"{self._root}/issues/{wish.pull_request}/comments"
        found = await ours(self._api.each(path), marker_of(self._forge.marker), by="user")
        if not found:
            await self._api.done("POST", path, said)
            return
        await self._api.done("PATCH", f"{self._root}/issues/comments/{found[0]}", said)
        for double in found[1:]:
            await self._api.done("DELETE", f"{self._root}/issues/comments/{double}")

    async def look(self) -> str:
        """Return what the forge says of the repository; raises TryLaterError, RefusedError."""
        found = await self._api.done("GET", self._root)
        name = shown(inside(found, "full_name"))
        may_push = inside(found, "permissions", "push") is True
        may = "may write there" if may_push else "may read it; whether it may write is not said"
        return f"{name or self._forge.repository} is there, and the token {may}."


def github(forge: Forge, token: str, ask: Ask, now: datetime) -> Github:
    """Return the repository as it is asked with the token."""
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
    }
    return Github(forge, RestApi(ask, forge.api_url, headers, now))
