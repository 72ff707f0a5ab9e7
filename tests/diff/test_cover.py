from hypothesis import given
from hypothesis import strategies as st

from storyshelf.diff.cover import Region, is_covered

SMALL = st.integers(0, 9)
REGIONS = st.tuples(SMALL, SMALL, SMALL, SMALL)


def pixels(place: Region, margin_px: int = 0) -> set[tuple[int, int]]:
    x, y, width, height = place
    return {
        (across, down)
        for across in range(x - margin_px, x + width + margin_px)
        for down in range(y - margin_px, y + height + margin_px)
    }


@given(place=REGIONS, covers=st.lists(REGIONS, max_size=6), margin_px=st.integers(0, 2))
def test_a_place_is_covered_where_each_of_its_pixels_is(
    place: Region, covers: list[Region], margin_px: int
) -> None:
    inside = pixels(place)
    painted = {pixel for cover in covers for pixel in pixels(cover, margin_px)}
    assert is_covered(place, covers, margin_px) is (bool(inside) and inside <= painted)


def test_thousands_of_holes_in_every_place_are_no_work_without_an_end() -> None:
    """A page that draws dots inside of frames decides on both: here it took ten seconds for one."""
    holes = [(x * 40, y * 40, 20, 20) for x in range(60) for y in range(50)]
    nested = [(each, each, 4_000 - 2 * each, 4_000 - 2 * each) for each in range(20)]
    assert not any(is_covered(place, holes, 8) for place in nested)
