"""Shoots until two pictures in a row are the same bytes: the one check that knows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

MAX_SHOTS = 5  # an endless animation is not over after more of them either


class Rest(StrEnum):
    """Whether the page held still."""

    STILL = "still"
    MOVING = "moving"


@dataclass(frozen=True, slots=True)
class Shot:
    """The last picture, and how many it took."""

    png: bytes
    rest: Rest
    shots: int


async def shoot_until_still(shoot: Callable[[], Awaitable[bytes]]) -> Shot:
    """Return the first picture that its successor confirms, else the last one."""
    png = await shoot()
    for shots in range(2, MAX_SHOTS + 1):
        before, png = png, await shoot()
        if png == before:
            return Shot(png, Rest.STILL, shots)
    return Shot(png, Rest.MOVING, MAX_SHOTS)
