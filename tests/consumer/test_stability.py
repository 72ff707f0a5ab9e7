from hashlib import sha256

import pytest

from consumer.capture.stability import QUIETS_MS, Ladder, Shot, shoot_until_still
from consumer.messages import MAX_FRAMES, MAX_FRAMES_BYTES
from storyshelf.ids import BlobKey
from storyshelf.snapshots.steadiness import Level

BASELINE = BlobKey(sha256(b"b").hexdigest())
FROM_AGAIN = Ladder(Level.AGAIN)


class Model:
    """A page that shows one letter a picture, and settles as often as it is given time for."""

    def __init__(self, pictures: str, times: int = len(QUIETS_MS)) -> None:
        self.left = list(pictures)
        self.times = times
        self.quiets: list[int] = []

    async def shoot(self) -> bytes:
        return self.left.pop(0).encode()

    async def settle_again(self, quiet_ms: int) -> bool:
        if len(self.quiets) == self.times:
            return False
        self.quiets.append(quiet_ms)
        return True


@pytest.mark.parametrize(
    ("pictures", "ladder", "shot", "settled"),
    [
        ("aa", Ladder(), Shot(b"a", Level.PAIR, 2), 0),
        ("aa", Ladder(baseline=BASELINE), Shot(b"a", Level.PAIR, 2), 0),
        ("b", Ladder(baseline=BASELINE), Shot(b"b", Level.FIRST, 1), 0),
        ("abb", Ladder(), Shot(b"b", Level.AGAIN, 3), 1),
        ("acdb", Ladder(baseline=BASELINE), Shot(b"b", Level.AGAIN, 4), 2),
        ("abababb", Ladder(), Shot(b"b", Level.AGAIN, 7), 5),
        ("aa", FROM_AGAIN, Shot(b"a", Level.AGAIN, 2), 1),
        ("b", Ladder(Level.AGAIN, BASELINE), Shot(b"b", Level.AGAIN, 1), 1),
        ("abcdefg", Ladder(), Shot(b"g", Level.NEVER, 7, (b"d", b"e", b"f")), 5),
        ("abababa", Ladder(), Shot(b"a", Level.NEVER, 7, (b"b",)), 5),
    ],
)
async def test_no_more_is_done_than_the_story_needs(
    pictures: str, ladder: Ladder, shot: Shot, settled: int
) -> None:
    model = Model(pictures)
    assert await shoot_until_still(model.shoot, model.settle_again, ladder) == shot
    assert model.left == []
    assert model.quiets[-settled:] == list(QUIETS_MS[: len(model.quiets)])[-settled:]
    assert len(model.quiets) == settled


async def test_a_story_that_has_no_time_left_is_given_up_with_what_it_showed() -> None:
    model = Model("ab", times=0)
    shot = await shoot_until_still(model.shoot, model.settle_again, Ladder())
    assert shot == Shot(b"b", Level.NEVER, 2, (b"a",))


async def test_pictures_of_a_movement_are_kept_within_bounds() -> None:
    sizes = iter([9, 1, MAX_FRAMES_BYTES - 1, 3, 4, 5, 6])

    async def shoot() -> bytes:
        return bytes(next(sizes))

    shot = await shoot_until_still(shoot, Model("").settle_again, Ladder())
    assert (len(shot.png), [len(frame) for frame in shot.frames]) == (6, [3, 4, 5])
    assert len(shot.frames) == MAX_FRAMES
