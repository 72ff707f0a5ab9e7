"""Which of a project's builds are too many or too old: pure, each with its reason.

Each limit is one by itself: a build goes when it is beyond the newest so many of its branch, or
older than so many days. Never goes what has not ended, the newest ended build of a branch (the
next one is compared with it), what is still to be decided, and what kept builds need.

A kept build needs the builds whose pictures it hands on, and those it shows as baselines. One that
is kept for that reason alone needs only the first: else each would keep the one before, for ever.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from storyshelf.ids import BuildId
from storyshelf.operations.uses import Use, User

UNDECIDED_KEPT = timedelta(days=30)  # where no number of days is set
NAMED = 5  # builds in a reason

Users = Mapping[BuildId, Collection[User]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept of each branch; None: as much as there is."""

    builds: int | None = None
    days: int | None = None

    @property
    def are_set(self) -> bool:
        """Tell whether anything can be too much."""
        return self.builds is not None or self.days is not None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A build that may have to go, with what decides about it."""

    id: BuildId
    number: int
    branch: str
    created_at: datetime
    ended_at: datetime | None
    was_planned: bool
    is_undecided: bool


class Fate(StrEnum):
    """What becomes of a build."""

    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Choice:
    """A build's fate, and why."""

    build: Candidate
    fate: Fate
    reason: str


def past_limits(
    builds: Sequence[Candidate], default_branch: str, limits: Limits, now: datetime
) -> Sequence[Choice]:
    """Decide about each build without a look at the others' needs; the newest build is first."""
    newest_first = sorted(builds, key=lambda build: -build.number)
    kept = _ancestors(newest_first, default_branch)
    places: dict[str, int] = {}
    choices = []
    for build in newest_first:
        place = places[build.branch] = places.get(build.branch, 0) + 1
        choices.append(_choose(build, kept.get(build.id), _excess(build, place, limits, now)))
    return [_while_undecided(choice, limits, now) for choice in choices]


def with_needs(choices: Sequence[Choice], users: Users) -> Sequence[Choice]:
    """Keep of what would go what others need that stay; `users` is asked of those to go alone."""
    going = {choice.build.id for choice in choices if choice.fate is Fate.DROP}
    held: dict[BuildId, Sequence[int]] = {}
    while found := _needed(going - held.keys(), users, going, held.keys()):
        held |= found
    return [
        _held(choice, held[choice.build.id]) if choice.build.id in held else choice
        for choice in choices
    ]


def _needed(
    asked: Collection[BuildId], users: Users, going: Collection[BuildId], held: Collection[BuildId]
) -> Mapping[BuildId, Sequence[int]]:
    needed = {}
    for build_id in asked:
        numbers = {
            user.number
            for user in users.get(build_id, ())
            if user.build_id not in going or (user.build_id in held and user.use is Use.HANDED_ON)
        }
        if numbers:
            needed[build_id] = sorted(numbers)
    return needed


def _ancestors(newest_first: Sequence[Candidate], default_branch: str) -> Mapping[BuildId, str]:
    """Return what builds to come, or those under way, are compared with."""
    kept: dict[BuildId, str] = {}
    for branch in {build.branch for build in newest_first}:
        ended = [each for each in newest_first if each.branch == branch and each.ended_at]
        planned = [each for each in ended if each.was_planned]
        for build in (*ended[:1], *planned[:1]):
            kept[build.id] = f"it is the newest of branch {branch} that ended"
    for under_way in (build for build in newest_first if build.ended_at is None):
        if ancestor := _ancestor(under_way, newest_first, default_branch):
            kept.setdefault(ancestor.id, f"build {under_way.number} is compared with it")
    return kept


def _ancestor(
    build: Candidate, newest_first: Iterable[Candidate], default_branch: str
) -> Candidate | None:
    before = [
        each
        for each in newest_first
        if each.number < build.number and each.was_planned and each.ended_at
    ]
    own = next((each for each in before if each.branch == build.branch), None)
    return own or next((each for each in before if each.branch == default_branch), None)


def _excess(build: Candidate, place: int, limits: Limits, now: datetime) -> str | None:
    if limits.builds is not None and place > limits.builds:
        return f"it is not among the newest {limits.builds} of branch {build.branch}"
    if limits.days is not None and _age(build, now) > timedelta(days=limits.days):
        return f"it is older than {limits.days} days"
    return None


def _choose(build: Candidate, next_one: str | None, excess: str | None) -> Choice:
    if build.ended_at is None:
        return Choice(build, Fate.KEEP, "it has not ended")
    if excess is None:
        return Choice(build, Fate.KEEP, "it is within the limits")
    if next_one is not None:
        return Choice(build, Fate.KEEP, next_one)
    return Choice(build, Fate.DROP, excess)


def _while_undecided(choice: Choice, limits: Limits, now: datetime) -> Choice:
    kept_for = UNDECIDED_KEPT if limits.days is None else timedelta(days=limits.days)
    is_kept = choice.build.is_undecided and _age(choice.build, now) <= kept_for
    if choice.fate is Fate.KEEP or not is_kept:
        return choice
    return Choice(choice.build, Fate.KEEP, "it has changes that nobody has decided yet")


def _held(choice: Choice, numbers: Sequence[int]) -> Choice:
    named = ", ".join(str(number) for number in numbers[:NAMED])
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    return Choice(choice.build, Fate.KEEP, f"its pictures are needed by build {named}{more}")


def _age(build: Candidate, now: datetime) -> timedelta:
    return now - (build.ended_at or build.created_at)
