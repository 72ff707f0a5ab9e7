"""Which picture a snapshot is compared with, and the reason that is shown for it."""

from hypothesis import given
from hypothesis import strategies as st

from storyshelf.baselines.choose import NO_ANCESTOR, Ancestor, choose
from storyshelf.ids import SnapshotId, SnapshotKey, StoryId

KEY = SnapshotKey(StoryId("button--primary"))
OTHER = SnapshotKey(StoryId("button--danger"))


def test_without_an_ancestor_there_is_nothing_to_compare_with() -> None:
    chosen = choose(KEY, None, "main")
    assert (chosen.snapshot_id, chosen.reason) == (None, NO_ANCESTOR)


def test_the_ancestor_hands_on_what_is_effective_in_it() -> None:
    chosen = choose(KEY, Ancestor(4, "main", {KEY: SnapshotId(9)}), "main")
    assert chosen.snapshot_id == 9
    assert chosen.reason == "The accepted picture as of build 4, the latest planned build on main."


def test_an_ancestor_from_the_default_branch_is_named_as_such() -> None:
    chosen = choose(KEY, Ancestor(4, "main", {KEY: SnapshotId(9)}), "feature")
    assert chosen.snapshot_id == 9
    assert "the latest planned build on main (feature had none before)." in chosen.reason


def test_a_story_that_the_ancestor_did_not_have_has_no_baseline() -> None:
    chosen = choose(KEY, Ancestor(4, "main", {OTHER: SnapshotId(9)}), "main")
    assert chosen.snapshot_id is None
    assert "this story and mode did not exist in build 4" in chosen.reason


def test_a_story_that_was_never_accepted_has_no_baseline() -> None:
    chosen = choose(KEY, Ancestor(4, "main", {KEY: None}), "main")
    assert chosen.snapshot_id is None
    assert chosen.reason.startswith("There is none: no picture of it is accepted as of build 4")


def test_another_mode_of_the_story_is_another_key() -> None:
    narrow = SnapshotKey(KEY.story_id, "320px")
    assert choose(narrow, Ancestor(4, "main", {KEY: SnapshotId(9)}), "main").snapshot_id is None


keys = st.builds(SnapshotKey, st.sampled_from(["a--a", "a--b"]), st.sampled_from(["default", "m"]))
effective = st.dictionaries(keys, st.none() | st.integers(1, 9).map(SnapshotId))


@given(keys, effective, st.sampled_from(["main", "feature"]))
def test_a_baseline_is_the_ancestors_or_none_and_has_a_reason(
    key: SnapshotKey, handed_on: dict[SnapshotKey, SnapshotId | None], branch: str
) -> None:
    chosen = choose(key, Ancestor(4, "main", handed_on), branch)
    assert chosen.snapshot_id == handed_on.get(key)
    assert "build 4" in chosen.reason
