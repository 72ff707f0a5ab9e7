"""The ledger: what was promised beside what became of it; pure, over what was read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from uuid import UUID

from storyshelf.ids import BuildId, JobId


class Event(StrEnum):
    """What the record holds of a job, in the order in which its row was locked."""

    GRANTED = "granted"  # a claim gave it this token
    WROTE = "wrote"  # an attempt wrote results under this token
    APPLIED = "applied"  # a settle wrote its effects under this token
    LEFT = "left"  # the token was taken from it, or the row with it


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the record."""

    job_id: JobId
    event: Event
    token: UUID | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """How an attempt ended: as the database has it, or as a consumer believes."""

    job_id: JobId
    number: int
    outcome: str
    token: UUID | None = None


@dataclass(frozen=True, slots=True)
class EndedBuild:
    """A build, and how many finalise jobs of its generation there ever were."""

    build_id: BuildId
    has_ended: bool
    was_planned: bool
    open_shards: int
    finalisers: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a scenario leaves behind."""

    promised: frozenset[JobId]  # the enqueue was answered
    promised_builds: frozenset[BuildId]
    unfinished: Sequence[JobId]  # still in the queue
    done: Mapping[JobId, str]  # outcome of what has left it
    effects: Sequence[JobId]  # one for each `apply` and each `ended`
    executed: frozenset[JobId]  # a handler ran
    attempts: Sequence[Attempt]
    believed: Sequence[Attempt]  # the answers consumers had of their settles
    history: Sequence[Moment]
    builds: Sequence[EndedBuild]


@dataclass(frozen=True, slots=True)
class Figures:
    """What has to be nought."""

    lost: int = 0
    doubled: int = 0
    stale_accepted: int = 0
    finalisers_wrong: int = 0

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(Figures))
        )

    @property
    def is_clean(self) -> bool:
        """Whether everything is nought."""
        return self == Figures()


def balance(facts: Facts) -> Figures:
    """Compare what was promised with what became of it."""
    return Figures(
        lost=_lost(facts),
        doubled=_doubled(facts),
        stale_accepted=_stale(facts),
        finalisers_wrong=sum(not _is_right(build) for build in facts.builds)
        + len(facts.promised_builds - {build.build_id for build in facts.builds}),
    )


def unrecognised(facts: Facts) -> int:
    """Return how many settles went through whose consumer never learned that they did."""
    ours = {(each.job_id, each.number) for each in facts.attempts if each.outcome != "lost"}
    return sum(
        (each.job_id, each.number) in ours for each in facts.believed if each.outcome == "lost"
    )


def _lost(facts: Facts) -> int:
    """Count jobs that never ended, that ended without an effect, or that nobody ran."""
    gone = facts.promised - facts.done.keys() - set(facts.unfinished)
    silent = facts.done.keys() - set(facts.effects)
    unrun = {job for job, outcome in facts.done.items() if outcome == "completed"} - facts.executed
    return len(gone) + len(set(facts.unfinished)) + len(silent) + len(unrun) + _imagined(facts)


def _imagined(facts: Facts) -> int:
    """Count attempts that a consumer believes it settled, and the database knows nothing of."""
    known = {(each.job_id, each.number): each.outcome for each in facts.attempts}
    return sum(
        known.get((each.job_id, each.number)) != each.outcome
        for each in facts.believed
        if each.outcome != "lost"
    )


def _doubled(facts: Facts) -> int:
    extra = sum(times - 1 for times in Counter(facts.effects).values())
    return extra + len(facts.done.keys() & set(facts.unfinished))


def _stale(facts: Facts) -> int:
    """Count writes and settles by whoever did not own the job at that moment."""
    settled = [each for each in facts.attempts if each.outcome != "lost" and each.token]
    left = {(m.job_id, m.token) for m in facts.history if m.event is Event.LEFT}
    unowned = sum((each.job_id, each.token) not in left for each in settled)
    return unowned + _writes_of_strangers(facts.history)


def _writes_of_strangers(history: Iterable[Moment]) -> int:
    owners: dict[JobId, UUID | None] = {}
    last: dict[JobId, UUID | None] = {}
    strange = 0
    for moment in history:
        match moment.event:
            case Event.GRANTED:
                owners[moment.job_id] = moment.token
            case Event.LEFT:
                last[moment.job_id] = owners.pop(moment.job_id, None)
            case Event.WROTE:
                strange += owners.get(moment.job_id) != moment.token
            case Event.APPLIED:  # in the settling transaction, after the row has gone
                strange += moment.job_id in owners or last.get(moment.job_id) != moment.token
    return strange


def _is_right(build: EndedBuild) -> bool:
    return (
        build.has_ended
        and build.open_shards == 0
        and build.finalisers == (1 if build.was_planned else 0)
    )
