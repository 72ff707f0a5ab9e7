"""Which builds are too many or too old, and why the others stay."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from storyshelf.ids import BuildId
from storyshelf.operations.retention import (
    Candidate,
    Choice,
    Fate,
    Limits,
    Users,
    past_limits,
    with_needs,
)
from storyshelf.operations.uses import Use, User
from tests.fakes import EPOCH

NOW = EPOCH
OLD = 40


def a_build(
    number: int, branch: str = "main", *, days: float = 0, ended: bool = True, **facts: bool
) -> Candidate:
    """A build that has ended so many days ago; `planned` and `undecided` say more."""
    at = NOW - timedelta(days=days)
    return Candidate(
        *(BuildId(number), number, branch, at, at if ended else None),
        was_planned=facts.get("planned", True),
        is_undecided=facts.get("undecided", False),
    )


def decided(
    builds: Sequence[Candidate], limits: Limits, users: Users | None = None
) -> list[Choice]:
    choices = past_limits(builds, "main", limits, NOW)
    return list(with_needs(choices, users or {}))


def dropped(builds: Sequence[Candidate], limits: Limits, users: Users | None = None) -> list[int]:
    return [c.build.number for c in decided(builds, limits, users) if c.fate is Fate.DROP]


def reason_of(number: int, choices: Sequence[Choice]) -> str:
    return next(choice.reason for choice in choices if choice.build.number == number)


def test_without_a_limit_everything_stays() -> None:
    assert dropped([a_build(n, days=1000) for n in range(1, 50)], Limits()) == []


def test_the_newest_so_many_of_each_branch_stay() -> None:
    builds = [a_build(n, branch) for n, branch in enumerate(["main", "x"] * 4, start=1)]
    choices = decided(builds, Limits(builds=2))
    assert [c.build.number for c in choices if c.fate is Fate.DROP] == [4, 3, 2, 1]
    assert reason_of(1, choices) == "it is not among the newest 2 of branch main"


def test_what_is_older_than_the_days_goes() -> None:
    builds = [a_build(1, days=31), a_build(2, days=29), a_build(3)]
    choices = decided(builds, Limits(days=30))
    assert reason_of(1, choices) == "it is older than 30 days"
    assert [c.fate for c in choices] == [Fate.KEEP, Fate.KEEP, Fate.DROP]


def test_the_newest_ended_of_a_branch_stays_however_old() -> None:
    builds = [a_build(1, "x", days=OLD), a_build(2, "main", days=OLD), a_build(3, ended=False)]
    choices = decided(builds, Limits(builds=1, days=1))
    assert {c.fate for c in choices} == {Fate.KEEP}
    assert reason_of(1, choices) == "it is the newest of branch x that ended"


def test_the_newest_that_was_planned_stays_since_the_next_is_compared_with_it() -> None:
    builds = [a_build(1), a_build(2), a_build(3, planned=False)]
    assert dropped(builds, Limits(builds=1)) == [1]


def test_what_has_not_ended_stays() -> None:
    builds = [a_build(1, days=OLD, ended=False), a_build(2), a_build(3)]
    assert dropped(builds, Limits(builds=1)) == [2]


def test_what_a_build_under_way_is_compared_with_stays() -> None:
    builds = [a_build(1), a_build(2), a_build(3, ended=False), a_build(4)]
    choices = decided(builds, Limits(builds=1))
    assert [c.build.number for c in choices if c.fate is Fate.DROP] == [1]
    assert reason_of(2, choices) == "build 3 is compared with it"


def test_the_first_of_a_branch_under_way_is_compared_with_the_default_branch() -> None:
    builds = [a_build(1), a_build(2, "x", ended=False), a_build(3), a_build(4)]
    assert dropped(builds, Limits(builds=1)) == [3]


def test_undecided_changes_stay_for_a_while() -> None:
    builds = [a_build(1, days=OLD, undecided=True), a_build(2, undecided=True), a_build(3)]
    choices = decided(builds, Limits(builds=1))
    assert [c.build.number for c in choices if c.fate is Fate.DROP] == [1]
    assert reason_of(2, choices) == "it has changes that nobody has decided yet"
    assert dropped(builds, Limits(builds=1, days=50)) == []


def used(by: int, use: Use = Use.BASELINE) -> User:
    return User(by, BuildId(by), use)


def test_what_a_kept_build_needs_stays() -> None:
    builds = [a_build(n) for n in range(1, 6)]
    users: Mapping[BuildId, list[User]] = {
        BuildId(1): [used(5, Use.HANDED_ON)],
        BuildId(3): [used(4)],
    }
    choices = decided(builds, Limits(builds=2), users)
    assert [c.build.number for c in choices if c.fate is Fate.DROP] == [2]
    assert reason_of(1, choices) == "its pictures are needed by build 5"


def test_baselines_of_what_is_only_kept_for_others_do_not_keep_a_chain() -> None:
    builds = [a_build(n) for n in range(1, 6)]
    users = {BuildId(n): [used(n + 1)] for n in range(1, 5)}
    assert dropped(builds, Limits(builds=2), users) == [2, 1]


def test_what_is_handed_on_is_kept_through_others() -> None:
    builds = [a_build(n) for n in range(1, 6)]
    users = {BuildId(n): [used(n + 1, Use.HANDED_ON)] for n in range(1, 5)}
    assert dropped(builds, Limits(builds=2), users) == []


@given(st.data())
def test_whatever_there_is_no_kept_build_loses_what_it_hands_on(data: st.DataObject) -> None:
    numbers = range(1, data.draw(st.integers(1, 12)) + 1)
    builds = [
        a_build(
            n,
            data.draw(st.sampled_from(["main", "x"])),
            days=data.draw(st.integers(0, 60)),
            ended=data.draw(st.booleans()),
            planned=data.draw(st.booleans()),
            undecided=data.draw(st.booleans()),
        )
        for n in numbers
    ]
    users = {
        BuildId(n): [
            used(by, data.draw(st.sampled_from(Use)))
            for by in data.draw(st.sets(st.sampled_from(numbers)))
            if by > n
        ]
        for n in numbers
    }
    limits = Limits(data.draw(st.integers(1, 4)), data.draw(st.none() | st.integers(1, 50)))
    gone = set(dropped(builds, limits, users))
    kept = set(numbers) - gone
    assert all(build.ended_at is not None for build in builds if build.number in gone)
    assert not any(
        user.use is Use.HANDED_ON and user.number in kept
        for number in gone
        for user in users[BuildId(number)]
    )
    for branch in {build.branch for build in builds}:
        ended = [b.number for b in builds if b.branch == branch and b.ended_at and b.was_planned]
        assert not ended or max(ended) in kept
