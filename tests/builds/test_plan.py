"""Planning as a decision: which snapshots a build has, what of, and in which shards."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.plan_build import UNREAD, BundleContent, Plan, Surroundings, plan
from storyshelf.bundle.index import Story
from storyshelf.bundle.isolation import Isolation
from storyshelf.bundle.look import ColorScheme, Look
from storyshelf.bundle.parameters import Viewport, parse_parameters
from storyshelf.bundle.tags import TagRule
from storyshelf.ids import BuildId, EnvironmentId, ProjectId, SnapshotId, SnapshotKey, StoryId
from storyshelf.projects.options import ProjectOptions
from storyshelf.snapshots.snapshot import CaptureOptions, OrderDependence, Verdict
from storyshelf.snapshots.store import AncestorSnapshot, NewSnapshot

WHEN = datetime(2030, 1, 1, tzinfo=UTC)
ENVIRONMENT = EnvironmentId("test")
BUILD = Build(
    id=BuildId(20),
    project_id=ProjectId(1),
    number=2,
    idempotency_key="key",
    branch="main",
    commit="c0ffee",
    message=None,
    author=None,
    state=BuildState.PLANNING,
    state_reason=None,
    generation=3,
    planned_generation=None,
    open_shards=0,
    finalise_job_id=None,
    ancestor_build_id=None,
    rule=None,
    environment_id=None,
    created_at=WHEN,
    sealed_at=WHEN,
    planned_at=None,
    ended_at=None,
)
ANCESTOR = replace(BUILD, id=BuildId(10), number=1, state=BuildState.PASSED)
ALONE = Surroundings(
    build=BUILD,
    options=ProjectOptions(),
    ancestor=None,
    ancestor_rows=(),
    is_first=True,
    environment=ENVIRONMENT,
    slots=1,
    shard_cost_ms=60_000,
)


def stories(*ids: str) -> tuple[Story, ...]:
    return tuple(Story(StoryId(each), f"Title {each}", f"Name {each}", "./x.js") for each in ids)


def content(*ids: str, **said: Mapping[str, Any]) -> BundleContent:
    """Stories whose page was read; `said` are parameters by id, with `_` for each `-`."""
    wishes = {name.replace("_", "-"): wish for name, wish in said.items()}
    read = {StoryId(each): parse_parameters(wishes.get(each), None) for each in ids}
    return BundleContent(stories(*ids), read)


def after(handed_on: Mapping[str, int | None], *, cost_ms: int | None = 100) -> Surroundings:
    """A second build, whose ancestor's stories hand on these snapshots."""
    rows = [
        AncestorSnapshot(
            key=SnapshotKey(StoryId(story)),
            title=f"Old title {story}",
            name=f"Old name {story}",
            import_path="./old.js",
            options=CaptureOptions(delay_ms=7),
            effective_id=None if own is None else SnapshotId(own),
            cost_ms=cost_ms,
        )
        for story, own in handed_on.items()
    ]
    return replace(ALONE, ancestor=ANCESTOR, ancestor_rows=rows, is_first=False)


def by_story(made: Plan) -> dict[str, NewSnapshot]:
    return {row.key.story_id: row for row in made.rows}


def test_a_plan_is_of_its_build_and_generation() -> None:
    made = plan(content("a--a"), ALONE)
    assert (made.build_id, made.generation, made.environment) == (20, 3, ENVIRONMENT)


def test_the_first_build_goes_by_its_rule_and_has_no_ancestor() -> None:
    made = plan(content("a--a"), ALONE)
    assert (made.rule, made.ancestor_id) == ("first build", None)


def test_a_later_build_has_no_rule_and_names_its_ancestor() -> None:
    made = plan(content("a--a"), after({"a--a": 5}))
    assert (made.rule, made.ancestor_id) == (None, 10)


def test_a_story_is_compared_with_what_its_ancestor_hands_on() -> None:
    row = by_story(plan(content("a--a"), after({"a--a": 5})))["a--a"]
    assert (row.verdict, row.baseline_id) == (Verdict.PLANNED, 5)
    as_of = "The accepted picture as of build 1, the latest planned build on main."
    assert row.baseline_reason == as_of


@pytest.mark.parametrize("around", [ALONE, after({}), after({"a--a": None})])
def test_a_story_without_a_baseline_is_rendered_all_the_same(around: Surroundings) -> None:
    row = by_story(plan(content("a--a"), around))["a--a"]
    assert (row.verdict, row.baseline_id) == (Verdict.PLANNED, None)
    assert row.reason == "It waits to be captured; there is no baseline to compare it with."


def test_a_story_that_is_gone_is_a_removed_row_that_keeps_its_old_words() -> None:
    row = by_story(plan(content("a--a"), after({"a--a": 5, "b--b": 6})))["b--b"]
    assert (row.verdict, row.baseline_id, row.shard_number) == (Verdict.REMOVED, 6, None)
    assert (row.title, row.import_path) == ("Old title b--b", "./old.js")
    assert row.options == CaptureOptions(delay_ms=7)
    assert row.reason == "This build has no such story or mode; build 1 had it."


def test_a_story_that_handed_on_nothing_is_gone_without_a_word() -> None:
    made = plan(content("a--a"), after({"a--a": 5, "b--b": None}))
    assert set(by_story(made)) == {"a--a"}


def test_a_skipped_story_is_not_rendered_and_hands_its_baseline_on() -> None:
    skip = content("a--a", "b--b", a__a={"disableSnapshot": True})
    made = plan(skip, after({"a--a": 5, "b--b": 6}))
    row = by_story(made)["a--a"]
    assert (row.verdict, row.baseline_id, row.shard_number) == (Verdict.SKIPPED, 5, None)
    assert row.reason == "It is not captured, because its parameters set disableSnapshot."
    assert made.shard_sizes == [1]


def test_a_build_of_skipped_stories_has_no_shard() -> None:
    made = plan(content("a--a", a__a={"disableSnapshot": True}), ALONE)
    assert list(made.shard_sizes) == []


def test_viewports_are_modes_of_their_own() -> None:
    made = plan(content("a--a", a__a={"viewports": [320, {"width": 800, "height": 600}]}), ALONE)
    assert {row.key.mode: row.options.viewport for row in made.rows} == {
        "320px": Viewport(320),
        "800x600": Viewport(800, 600),
    }


def test_a_mode_that_a_story_no_longer_has_is_removed() -> None:
    made = plan(content("a--a", a__a={"viewports": [320]}), after({"a--a": 5}))
    assert {row.key.mode: row.verdict for row in made.rows} == {
        "320px": Verdict.PLANNED,
        "default": Verdict.REMOVED,
    }


def test_a_story_waits_as_long_as_it_asks_for() -> None:
    row = by_story(plan(content("a--a", a__a={"delay": 300}), ALONE))["a--a"]
    assert row.options.delay_ms == 300


@pytest.mark.parametrize(("said", "threshold"), [({}, 0.25), ({"diffThreshold": 0.5}, 0.5)])
def test_a_storys_threshold_beats_the_projects(said: Mapping[str, float], threshold: float) -> None:
    around = replace(ALONE, options=ProjectOptions(diff_threshold=0.25))
    row = by_story(plan(content("a--a", a__a=said), around))["a--a"]
    assert row.options.diff_threshold == threshold


def test_a_threshold_of_zero_is_a_wish_and_not_its_absence() -> None:
    row = by_story(plan(content("a--a", a__a={"diffThreshold": 0}), ALONE))["a--a"]
    assert row.options.diff_threshold == 0


def test_a_wish_that_cannot_be_followed_is_a_warning_on_the_snapshot() -> None:
    row = by_story(plan(content("a--a", a__a={"delay": "long"}), ALONE))["a--a"]
    assert [warning.code for warning in row.warnings] == ["bad_parameter"]


def test_a_story_whose_parameters_nobody_could_read_says_so() -> None:
    row = by_story(plan(BundleContent(stories("a--a"), {}), ALONE))["a--a"]
    assert [(warning.code, warning.text) for warning in row.warnings] == [
        (UNREAD.code, UNREAD.text)
    ]
    assert row.verdict is Verdict.PLANNED


def test_parameters_of_a_story_that_is_not_in_the_index_are_nobodys() -> None:
    loaded = content("a--a", "ghost--x").parameters
    made = plan(BundleContent(stories("a--a"), loaded), ALONE)
    assert set(by_story(made)) == {"a--a"}


def test_a_mode_is_a_snapshot_of_its_own_with_its_look() -> None:
    dark = {"viewport": "mobile1", "colorScheme": "dark", "scale": 2, "theme": "night"}
    made = plan(content("a--a", a__a={"modes": {"dark": dark, "plain": {}}}), after({"a--a": 5}))
    rows = {row.key.mode: row for row in made.rows}
    assert {mode: row.verdict for mode, row in rows.items()} == {
        "dark": Verdict.PLANNED,
        "plain": Verdict.PLANNED,
        "default": Verdict.REMOVED,
    }
    assert rows["dark"].options.viewport == Viewport(320, 568, 2.0)
    look = Look(color_scheme=ColorScheme.DARK, globals='{"theme": "night"}')
    assert rows["dark"].options.look == look
    assert CaptureOptions.parse(rows["dark"].options.to_json()) == rows["dark"].options


def test_options_of_before_there_were_looks_are_read() -> None:
    stored = CaptureOptions(delay_ms=7).to_json()
    del stored["look"]
    assert CaptureOptions.parse(stored) == CaptureOptions(delay_ms=7)


def test_a_story_is_skipped_for_the_reason_that_its_author_gives() -> None:
    row = by_story(plan(content("a--a", a__a={"skip": "waits for a font"}), ALONE))["a--a"]
    reason = "It is not captured: waits for a font"
    assert (row.verdict, row.reason) == (Verdict.SKIPPED, reason)


TAGS = (TagRule("test"), TagRule("wip", is_banned=True))


@pytest.mark.parametrize(
    ("tags", "rules", "why"),
    [
        ((), (), ""),
        (("dev",), (), ""),
        (("storyshelf-skip",), (), "it has the tag storyshelf-skip"),
        (("test",), TAGS, ""),
        (("dev",), TAGS, "it lacks the tag test"),
        (("test", "wip"), TAGS, "it has the tag wip"),
    ],
)
def test_a_story_that_breaks_a_rule_of_tags_is_skipped_and_says_which(
    tags: tuple[str, ...], rules: tuple[TagRule, ...], why: str
) -> None:
    told = content("a--a")
    tagged = replace(told, stories=[replace(story, tags=tags) for story in told.stories])
    around = replace(ALONE, options=ProjectOptions(story_tags=rules))
    row = by_story(plan(tagged, around))["a--a"]
    assert row.verdict is (Verdict.SKIPPED if why else Verdict.PLANNED)
    assert not why or row.reason == f"It is not captured, because {why}."


@pytest.mark.parametrize(("option", "ids"), [(False, {"a--a"}), (True, {"a--a", "a--docs"})])
def test_docs_pages_are_captured_where_the_project_wants_them(option: bool, ids: set[str]) -> None:  # noqa: FBT001  # the option's own type
    bundle = replace(content("a--a"), docs=frozenset(stories("a--docs")))
    rows = by_story(plan(bundle, replace(ALONE, options=ProjectOptions(captures_docs=option))))
    assert set(rows) == ids
    assert all(row.warnings == () for row in rows.values())


def test_shards_are_cut_by_what_the_ancestor_took() -> None:
    ids = [f"c{n}--x" for n in range(4)]
    around = replace(after(dict.fromkeys(ids, 5), cost_ms=30_000), shard_cost_ms=60_000)
    assert list(plan(content(*ids), around).shard_sizes) == [2, 2]


names = st.lists(
    st.sampled_from([f"{component}--{story}" for component in "abcd" for story in "xyz"]),
    unique=True,
)
wishes = st.fixed_dictionaries(
    {},
    optional={
        "disableSnapshot": st.booleans(),
        "viewports": st.lists(st.sampled_from([320, 640, 1280]), max_size=3),
        "diffThreshold": st.sampled_from([0, 0.5]),
    },
)


@st.composite
def situations(draw: st.DrawFn) -> tuple[BundleContent, Surroundings]:
    ids = draw(names)
    said = {StoryId(each): parse_parameters(draw(wishes), None) for each in ids}
    handed_on = draw(st.dictionaries(names.filter(bool).map(min), st.none() | st.integers(1, 99)))
    around = after(handed_on) if draw(st.booleans()) else ALONE
    return BundleContent(stories(*ids), said), replace(around, shard_cost_ms=1_000, slots=4)


@given(situations())
def test_no_story_is_lost_and_none_is_planned_twice(
    situation: tuple[BundleContent, Surroundings],
) -> None:
    bundle, around = situation
    rows = plan(bundle, around).rows
    assert len({row.key for row in rows}) == len(rows)
    kept = {row.key.story_id for row in rows if row.verdict is not Verdict.REMOVED}
    assert kept == {story.story_id for story in bundle.stories}


@given(situations())
def test_whatever_had_a_baseline_has_a_row(situation: tuple[BundleContent, Surroundings]) -> None:
    bundle, around = situation
    had = {row.key for row in around.ancestor_rows if row.effective_id is not None}
    assert had <= {row.key for row in plan(bundle, around).rows}


@given(situations())
def test_a_row_is_in_a_shard_exactly_if_it_is_to_be_rendered(
    situation: tuple[BundleContent, Surroundings],
) -> None:
    made = plan(*situation)
    for row in made.rows:
        assert (row.shard_number is not None) == (row.verdict is Verdict.PLANNED)


@given(situations())
def test_a_shard_is_as_large_as_the_plan_says(
    situation: tuple[BundleContent, Surroundings],
) -> None:
    made = plan(*situation)
    assert sizes(made.rows) == dict(enumerate(made.shard_sizes, start=1))


def sizes(rows: Sequence[NewSnapshot]) -> dict[int, int]:
    numbers = [row.shard_number for row in rows if row.shard_number is not None]
    return {number: numbers.count(number) for number in numbers}


@given(situations(), st.randoms(use_true_random=False))
def test_the_order_of_stories_and_rows_is_no_matter(
    situation: tuple[BundleContent, Surroundings], chance: Any
) -> None:
    bundle, around = situation
    mixed = replace(bundle, stories=shuffled(bundle.stories, chance))
    remixed = replace(around, ancestor_rows=shuffled(around.ancestor_rows, chance))
    assert plan(mixed, remixed) == plan(bundle, around)


def shuffled(items: Sequence[Any], chance: Any) -> list[Any]:
    return list(chance.sample(list(items), len(items)))


def test_a_story_that_names_no_viewports_is_shot_in_those_of_its_project() -> None:
    around = replace(ALONE, options=ProjectOptions(viewports=(Viewport(375), Viewport(1280, 800))))
    told = content("a--a", "b--b", a__a={"viewports": [320]})
    shot = [
        (row.key.story_id, row.key.mode, row.options.viewport) for row in plan(told, around).rows
    ]
    assert shot == [
        ("a--a", "320px", Viewport(320)),
        ("b--b", "375px", Viewport(375)),
        ("b--b", "1280x800", Viewport(1280, 800)),
    ]


@pytest.mark.parametrize("around", [ALONE, after({"a--a": 5})])
def test_the_rule_of_an_accepted_branch_goes_before_that_of_a_first_build(
    around: Surroundings,
) -> None:
    accepting = replace(around, options=ProjectOptions(accepts_branches=("main",)))
    assert plan(content("a--a"), accepting).rule == "accepted branch"


def test_a_story_that_depends_on_others_is_loaded_by_itself_and_says_why() -> None:
    key = SnapshotKey(StoryId("a--a"))
    found = OrderDependence(StoryId("a--b"), ("div#toast in body",))
    around = replace(ALONE, kept_apart={key: found})
    rows = by_story(plan(content("a--a", "a--b"), around))
    assert rows["a--a"].options.isolation is Isolation.STRICT
    (notice,) = rows["a--a"].warnings
    assert (notice.code, "last a--b. Left behind: div#toast" in notice.text) == (
        "order_dependent",
        True,
    )
    assert (rows["a--b"].options.isolation, rows["a--b"].warnings) == (Isolation.SHARED, ())


@pytest.mark.parametrize(
    ("project", "story", "isolation"),
    [
        (Isolation.SHARED, None, Isolation.SHARED),
        (Isolation.STRICT, None, Isolation.STRICT),
        (Isolation.STRICT, "shared", Isolation.SHARED),
        (Isolation.SHARED, "fresh-context", Isolation.FRESH),
    ],
)
def test_what_a_story_is_shown_in_is_its_own_wish_or_its_projects(
    project: Isolation, story: str | None, isolation: Isolation
) -> None:
    said = {} if story is None else {"a__a": {"isolation": story}}
    around = replace(ALONE, options=ProjectOptions(isolation=project))
    rows = by_story(plan(content("a--a", **said), around))
    assert rows["a--a"].options.isolation is isolation
