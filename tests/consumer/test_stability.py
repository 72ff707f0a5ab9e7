import pytest

from consumer.capture.stability import MAX_SHOTS, Rest, Shot, shoot_until_still


@pytest.mark.parametrize(
    ("pictures", "shot"),
    [
        ("aa", Shot(b"a", Rest.STILL, 2)),
        ("abb", Shot(b"b", Rest.STILL, 3)),
        ("ababb", Shot(b"b", Rest.STILL, 5)),
        ("abcde", Shot(b"e", Rest.MOVING, MAX_SHOTS)),
        ("ababa", Shot(b"a", Rest.MOVING, MAX_SHOTS)),
    ],
)
async def test_a_picture_counts_once_its_successor_is_the_same(pictures: str, shot: Shot) -> None:
    left = iter(pictures)

    async def shoot() -> bytes:
        return next(left).encode()

    assert await shoot_until_still(shoot) == shot
    assert list(left) == []
