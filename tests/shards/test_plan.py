from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.ids import SnapshotKey, StoryId
from storyshelf.shards.plan import DEFAULT_COST_MS, MIN_SHARD_MS, PlannedCapture, cut


def capture(story_id: str, cost_ms: int | None = 1000, mode: str = "default") -> PlannedCapture:
    return PlannedCapture(SnapshotKey(StoryId(story_id), mode), cost_ms)


def component(name: str, stories: int, cost_ms: int | None = 1000) -> list[PlannedCapture]:
    return [capture(f"{name}--story-{number:03}", cost_ms) for number in range(stories)]


def load_ms(shard: tuple[PlannedCapture, ...]) -> int:
    return sum(item.cost_ms or 0 for item in shard)


def components_of(shard: tuple[PlannedCapture, ...]) -> set[str]:
    return {item.component for item in shard}


BUILDS = st.lists(
    st.builds(
        capture,
        st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 30)).map(lambda p: f"{p[0]}--{p[1]}"),
        st.none() | st.integers(-5, 90_000),
        st.sampled_from(["default", "320px"]),
    ),
    unique_by=lambda item: item.key,
)


@given(BUILDS, st.integers(1, 120_000), st.integers(0, 20), st.integers(1, 9))
def test_every_capture_is_in_exactly_one_shard(
    items: list[PlannedCapture], target_ms: int, slots: int, max_shards: int
) -> None:
    shards = cut(items, target_ms, slots=slots, max_shards=max_shards)
    assert sorted(chain(*shards), key=lambda item: item.key) == sorted(
        items, key=lambda item: item.key
    )
    assert all(shards)
    assert len(shards) <= max_shards


@given(BUILDS, st.randoms(use_true_random=False), st.integers(1, 8))
def test_the_order_of_the_captures_does_not_matter(
    items: list[PlannedCapture], random: st.DataObject, slots: int
) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' randoms are untyped here
    assert cut(items, slots=slots) == cut(shuffled, slots=slots)


def test_nothing_to_capture_is_no_shard() -> None:
    assert cut([]) == ()


def test_a_small_build_on_one_slot_is_one_shard() -> None:
    assert len(cut(component("a", 5) + component("b", 5))) == 1


def test_a_shard_lasts_about_the_target() -> None:
    items = [item for number in range(60) for item in component(f"c{number}", 10)]
    shards = cut(items, 60_000)
    assert len(shards) == 10
    assert all(load_ms(shard) == pytest.approx(60_000, rel=0.2) for shard in shards)


def test_a_build_spreads_over_the_slots_that_can_work_on_it() -> None:
    items = [item for number in range(8) for item in component(f"c{number}", 5)]
    shards = cut(items, slots=4)
    assert [load_ms(shard) for shard in shards] == [10_000] * 4


def test_a_build_is_not_cut_smaller_than_a_shard_is_worth() -> None:
    shards = cut(component("a", 6) + component("b", 6), slots=64)
    assert len(shards) == 2
    assert all(load_ms(shard) >= MIN_SHARD_MS for shard in shards)


def test_a_components_stories_stay_together_where_they_fit() -> None:
    items = [item for number in range(12) for item in component(f"c{number}", 10)]
    shards = cut(items, 30_000)
    seen = list(chain(*map(components_of, shards)))
    assert len(shards) == 4
    assert len(seen) == len(set(seen)) == 12


def test_a_component_larger_than_a_shard_is_divided_between_neighbours() -> None:
    shards = cut(component("big", 90), 30_000)
    assert [load_ms(shard) for shard in shards] == [30_000] * 3
    ids = [[item.key.story_id for item in shard] for shard in shards]
    assert all(names == sorted(names) for names in ids)
    assert sorted((names[0], names[-1]) for names in ids) == [
        ("big--story-000", "big--story-029"),
        ("big--story-030", "big--story-059"),
        ("big--story-060", "big--story-089"),
    ]


def test_the_most_expensive_shard_comes_first() -> None:
    loads = [load_ms(shard) for shard in cut(component("a", 1, 90_000) + component("b", 40))]
    assert loads == sorted(loads, reverse=True)


def test_long_components_are_placed_before_short_ones() -> None:
    items = [capture("a--a", 3_000), capture("b--b", 3_000), capture("c--c", 6_000)]
    assert [load_ms(shard) for shard in cut(items, 6_000)] == [6_000, 6_000]


def test_a_shard_that_was_filled_last_may_come_first() -> None:
    items = [capture("a--a", 5_000), capture("b--b", 4_000), capture("c--c", 3_000)]
    assert [load_ms(shard) for shard in cut(items, 6_000)] == [7_000, 5_000]


def test_a_divided_component_is_cut_where_its_costs_are() -> None:
    costs = (1_000, 1_000, 1_000, 9_000)
    items = [capture(f"a--{number}", cost_ms) for number, cost_ms in enumerate(costs)]
    assert [load_ms(shard) for shard in cut(items, 6_000)] == [9_000, 3_000]


def test_one_story_longer_than_the_target_has_a_shard_to_itself() -> None:
    shards = cut([capture("slow--one", 100_000), *component("quick", 20)], 60_000)
    assert [item.key.story_id for item in shards[0]] == ["slow--one"]


def test_a_story_without_a_past_costs_what_the_others_do() -> None:
    known = component("old", 10, 3_000)
    shards = cut([*known, *component("new", 10, None)], 30_000)
    assert [len(shard) for shard in shards] == [10, 10]


def test_a_build_without_a_past_is_cut_by_the_default_cost() -> None:
    items = [item for number in range(100) for item in component(f"c{number}", 1, None)]
    assert len(cut(items, DEFAULT_COST_MS * 25)) == 4


def test_the_number_of_shards_is_bounded() -> None:
    assert len(cut(component("a", 500), 1_000, max_shards=7)) == 7
