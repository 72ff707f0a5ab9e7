"""The survival bench: its judgement, and in short its run with every kind of hazard."""

from collections.abc import Mapping

import pytest

from bench.survival import Ended, Survived, Watched, report_of, survive
from bench.survival_book import EVERY, HAZARDS, OK, Plot, cast

COUNT = 4 * EVERY
LENGTHY = {"crashes", "frames", "hoards", "loops-later", "stores", "workers"}
SHORT = tuple(sorted(HAZARDS.keys() - LENGTHY))
WELL = Ended(OK, b"picture")


def survived(ended: Mapping[str, Ended] | None = None, used_mb: float = 500.0) -> Survived:
    """All as it should be, but for what is given."""
    whole = cast(Plot(COUNT))
    well = {name: Ended(min(hazard.codes), b"") for name, hazard in whole.hazards.items()}
    plain = dict.fromkeys(whole.plain().stories, WELL)
    watched = Watched([500.0] * 20 + [used_mb] * 10, set())
    return Survived(whole, {**plain, **well, **(ended or {})}, plain, watched, {}, 2, 60.0)


def test_all_is_good_where_each_story_ends_as_it_should() -> None:
    assert report_of(survived(), {}).is_good


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        ({"plain-0000--story": Ended(OK, b"another")}, "unlike_alone"),
        ({"plain-0000--story": Ended("render_failed", b"")}, "unlike_alone"),
        ({"alerts-0009--story": Ended("page_crashed", b"")}, "wrong_endings"),
    ],
)
def test_a_story_that_ends_otherwise_is_told(ended: Mapping[str, Ended], told: str) -> None:
    report = report_of(survived(ended), {})
    assert not report.is_good
    assert len(report.figures[told]) == 1


def test_memory_that_rises_is_not_good() -> None:
    assert not report_of(survived(used_mb=800.0), {}).is_good


@pytest.mark.browser
@pytest.mark.timeout(300)
async def test_each_hazard_in_short_is_survived_and_the_stories_around_it_are_right() -> None:
    plot = Plot(3 * len(SHORT), every=3, kinds=SHORT, timeout_ms=16_000)
    figures = report_of(await survive(plot), {}).figures
    assert figures["hazards"] == len(SHORT)
    for name in ("missing", "wrong_endings", "unlike_alone", "unwell_alone"):
        assert figures[name] == [], name
