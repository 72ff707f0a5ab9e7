"""Stories that do not hold still: what of it is a change, and what is known to move."""

from dataclasses import replace

import pytest

from consumer.kinds.finding import lies_where_it_moves
from consumer.messages import Box, Page
from storyshelf.diff.cover import Region, is_covered
from storyshelf.snapshots.snapshot import SnapshotResult, Verdict
from storyshelf.snapshots.steadiness import Level
from storyshelf.storage.blobs import key_of
from tests.consumer.test_channel import COMPARED
from tests.consumer.test_photograph import Sitter, SlowBlobs, drawn, result_by
from tests.fakes import FakeClock

SPINS = "9@20,30 then 9@20,40"  # two phases, in the column from 20 to 29
WHERE = (20, 30, 9, 19)
KNOWN = ((20, 30, 9, 30),)


async def result_of(
    *shown: str, baseline: str | None, known: tuple[Region, ...] = ()
) -> tuple[SnapshotResult, list[Page]]:
    blobs = SlowBlobs(FakeClock())
    image = None if baseline is None else await blobs.put(drawn(baseline))
    sitter = Sitter(blobs.clock, *shown)
    return await result_by(sitter, blobs, image, known), sitter.pages


@pytest.mark.parametrize(
    ("shown", "baseline", "known", "verdict", "pages"),
    [
        ([SPINS], None, (), Verdict.UNSTABLE, 1),
        ([SPINS], "9@20,40", (), Verdict.UNCHANGED, 1),  # its last picture, byte for byte
        ([SPINS], "9@20,35", (), Verdict.UNSTABLE, 1),
        ([SPINS], "9@20,55", (), Verdict.UNSTABLE, 2),  # farther than it was seen to move
        ([SPINS], "9@20,35", KNOWN, Verdict.UNCHANGED, 1),
        (["9@20,40"], "9@20,35", KNOWN, Verdict.UNCHANGED, 1),  # one that holds still this time
        (["9@99,9", "9@99,9"], "9@20,35", KNOWN, Verdict.CHANGED, 2),
    ],
)
async def test_a_story_that_moves_is_unstable_until_it_is_known_to(
    shown: list[str], baseline: str | None, known: tuple[Region, ...], verdict: Verdict, pages: int
) -> None:
    if pages == 2 and verdict is Verdict.UNSTABLE:
        shown = [*shown, "9@20,48 then 9@20,58"]
    result, seen = await result_of(*shown, baseline=baseline, known=known)
    assert (result.verdict, len(seen)) == (verdict, pages), result.reason
    assert result.level is (Level.NEVER if SPINS in shown else Level.PAIR)


async def test_what_moved_is_told_with_its_pictures_and_its_place() -> None:
    result, _ = await result_of(SPINS, baseline=None)
    frames = [key_of(drawn("9@20,30")), key_of(drawn("9@20,40"))]
    assert [frame.key for frame in result.frames] == frames
    assert result.diff is not None
    assert result.mask is not None
    assert is_covered(WHERE, result.diff.moving)
    assert all(is_covered(place, [WHERE]) for place in result.diff.moving)


async def test_a_change_beside_what_moves_is_a_change() -> None:
    shown = "9@20,30+9@99,9 then 9@20,40+9@99,9"
    result, seen = await result_of(shown, shown, baseline="9@20,40")
    assert result.verdict is Verdict.CHANGED
    assert result.reason.endswith("It moves besides, elsewhere.")
    assert len(seen) == 2
    assert result.diff is not None
    assert result.diff.regions == ((99, 9, 9, 9),)


async def test_what_was_known_to_move_stays_known_with_what_is_new() -> None:
    known = ((99, 9, 9, 9),)
    result, _ = await result_of(SPINS, baseline="9@20,35", known=known)
    assert result.diff is not None
    assert set(known) < set(result.diff.moving)


async def test_pictures_of_two_sizes_tell_of_no_place() -> None:
    result, _ = await result_of("red then 9@20,30", "blue then 9@20,30", baseline="green")
    assert result.verdict is Verdict.UNSTABLE


def test_a_change_that_names_no_region_lies_nowhere() -> None:
    """A child that says so is not believed: else it would be no change at all."""
    there = replace(COMPARED, regions=(Box(1, 2, 3, 4),))
    assert lies_where_it_moves(there, ((0, 0, 10, 10),))
    assert not lies_where_it_moves(replace(there, regions=()), ((0, 0, 10, 10),))


@pytest.mark.parametrize(
    ("covers", "is_inside"),
    [
        ([(0, 0, 10, 10)], True),
        ([(0, 0, 5, 10), (5, 0, 5, 10)], True),
        ([(0, 0, 5, 10), (6, 0, 5, 10)], False),
        ([(-9, -9, 30, 14), (3, 3, 4, 7), (0, 4, 4, 9), (6, 4, 4, 9)], True),
        ([(1, 1, 8, 8)], False),
        ([], False),
    ],
)
def test_a_place_is_covered_by_many_as_well_as_by_one(
    covers: list[Region], *, is_inside: bool
) -> None:
    assert is_covered((0, 0, 10, 10), covers) is is_inside


def test_a_margin_reaches_on_every_side() -> None:
    assert is_covered((0, 0, 10, 10), [(1, 1, 8, 8)], margin_px=1)
