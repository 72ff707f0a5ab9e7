"""Shoots until a picture can be believed, on a ladder that costs no more than the story needs.

A first picture that is its baseline byte for byte is right by any standard, whatever is known of
the story: a baseline is a picture that was confirmed, and two pages do not draw the same moment of
a movement by chance. Else two pictures in a row have to be the same bytes; else the page is brought
to rest again, with more and more quiet on the network, before each further one. What moves even
then is given up, with pictures that show how.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256

from consumer.messages import MAX_FRAMES, MAX_FRAMES_BYTES, Box
from storyshelf.ids import BlobKey
from storyshelf.snapshots.steadiness import Level

QUIETS_MS = (100, 200, 400, 400, 400)  # of the network, before each further picture


@dataclass(frozen=True, slots=True)
class Ladder:
    """Where to begin, and the baseline, if there is one."""

    start: Level = Level.PAIR
    baseline: BlobKey | None = None

    def ends_with(self, png: bytes) -> bool:
        """Tell whether the picture is the baseline's."""
        return self.baseline is not None and sha256(png).hexdigest() == self.baseline


@dataclass(frozen=True, slots=True)
class Shot:
    """The last picture, how it came to be believed, and others that one that moves has shown."""

    png: bytes
    level: Level
    shots: int
    frames: tuple[bytes, ...] = ()
    ignored: tuple[Box, ...] = ()  # what of the last one is not compared


async def shoot_until_still(
    shoot: Callable[[], Awaitable[bytes]],
    settle_again: Callable[[int], Awaitable[bool]],
    ladder: Ladder,
) -> Shot:
    """Return the first picture that its successor confirms, else the last one.

    `settle_again` takes the quiet in milliseconds, and returns False once there is no time left.
    """
    reached = Level.PAIR
    if ladder.start is Level.AGAIN and await settle_again(QUIETS_MS[0]):
        reached = Level.AGAIN
    png = await shoot()
    if ladder.ends_with(png):
        return Shot(png, Level.FIRST if reached is Level.PAIR else reached, shots=1)
    seen = [png, await shoot()]
    for quiet_ms in QUIETS_MS:
        if seen[-1] == seen[-2]:
            return Shot(seen[-1], reached, len(seen))
        if not await settle_again(quiet_ms):
            break
        reached = Level.AGAIN
        seen.append(await shoot())
        if ladder.ends_with(seen[-1]):
            return Shot(seen[-1], reached, len(seen))
    if seen[-1] == seen[-2]:
        return Shot(seen[-1], reached, len(seen))
    return Shot(seen[-1], Level.NEVER, len(seen), _telling(seen))


def _telling(seen: list[bytes]) -> tuple[bytes, ...]:
    """Return the latest pictures that differ from each other and from the last, within bounds."""
    others = [png for png in dict.fromkeys(reversed(seen)) if png != seen[-1]]
    kept: list[bytes] = []
    for png in others[:MAX_FRAMES]:
        if sum(map(len, kept)) + len(png) <= MAX_FRAMES_BYTES:
            kept.insert(0, png)
    return tuple(kept)
