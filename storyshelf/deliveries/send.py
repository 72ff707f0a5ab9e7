"""Say one wish at the other end, or ask whether it can be heard there."""

from dataclasses import dataclass
from datetime import datetime

from storyshelf.deliveries.connection import Connection, ConnectionKind, Forge, Hook
from storyshelf.deliveries.github import Github, github
from storyshelf.deliveries.gitlab import Gitlab, gitlab
from storyshelf.deliveries.outbound import Ask
from storyshelf.deliveries.webhook import Stamp, Webhook
from storyshelf.deliveries.wish import CommentWish, HookWish, StatusWish, Wish


@dataclass(frozen=True, slots=True)
class Line:
    """A connection with its secret open, and a way to it."""

    connection: Connection
    secret: str
    ask: Ask
    now: datetime


async def send(line: Line, wish: Wish, root: str, stamp: Stamp) -> None:
    """Say it; said twice, it stands there once. Raises TryLaterError, RefusedError.

    `root` is the server's own address, which links begin with.
    """
    match other := _other_end(line), wish:
        case (Webhook() as hook, HookWish()):
            await hook.say_build(wish, root, stamp)
        case (Github() | Gitlab() as forge, StatusWish()):
            await forge.say_status(wish, root)
        case (Github() | Gitlab() as forge, CommentWish()):
            await forge.say_comment(wish, root)
        case _:
            raise AssertionError(f"no connection wishes this: {other!r}")


async def look(line: Line) -> str:
    """Return what the other end says of us; raises TryLaterError, RefusedError."""
    return await _other_end(line).look()


def _other_end(line: Line) -> Github | Gitlab | Webhook:
    config = line.connection.config
    match config:
        case Hook():
            return Webhook(config, line.secret, line.ask, line.now)
        case Forge() if line.connection.kind is ConnectionKind.GITHUB:
            return github(config, line.secret, line.ask, line.now)
        case Forge():
            return gitlab(config, line.secret, line.ask, line.now)
