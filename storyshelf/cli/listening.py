"""Where the server listens, and who has to be able to sign in before others reach it."""

import ipaddress
import socket

from storyshelf.auth import user_store
from storyshelf.db.engine import Database
from storyshelf.errors import StoryshelfError

LOCALHOST = "localhost"


class PortTakenError(StoryshelfError):
    """Another program listens there, or the address is not this machine's."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(
            f"The server cannot listen: {reason}",
            where=f"{host}:{port}",
            next_step="End what listens there, or choose another port: --port, STORYSHELF_PORT.",
        )


class NobodySignsInError(StoryshelfError):
    """The server would be reached from outside while nobody could sign in."""

    def __init__(self, host: str) -> None:
        super().__init__(
            "Nobody has a password to sign in with, so the server listens on this machine only",
            where=f"STORYSHELF_HOST or --host is {host!r}",
            next_step="Make an administrator: `storyshelf user add EMAIL --admin "
            "--password-stdin`. Or start on 127.0.0.1, open the link that `storyshelf up` prints, "
            "and set a password.",
        )


def bind(host: str, port: int) -> socket.socket:
    """Listen on that address; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise PortTakenError(host, port, error.strerror or str(error)) from error


def adopt(descriptor: int) -> socket.socket:
    """Return the socket that the parent process bound, so that no restart loses a connection."""
    return socket.socket(fileno=descriptor)


async def require_somebody(db: Database, host: str) -> None:
    """Go on where only this machine comes, or somebody has a password; raises NobodySignsInError.

    A server that strangers reach before its administrator does is open to whoever is first.
    """
    if is_loopback(host):
        return
    async with db.transaction() as tx:
        if not await user_store.somebody_signs_in(tx):
            raise NobodySignsInError(host)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches the address; of a name, whether it says so."""
    if host == LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
