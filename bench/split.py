"""Where a build's time from seal to verdict went; pure.

The parts add up to the wall time. Queue, plan and finalise follow one another, so they count as
they are. Captures run side by side, in as many slots as the consumer has: a second of a slot counts
as one second divided by the slots. Then the capture phase is, without a gap: the wait for the first
claim, what the slots did, and the time in which a slot had no shard.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.errors import StoryshelfError

RENDER_STEPS = ("open", "render", "settle", "shoot")
MOST_UNEXPLAINED = 0.05  # of the wall time: more, and the table does not say where it went


class UnreadableRunError(StoryshelfError):
    """The build did not run as a bench's build does, so its figures would mean nothing."""

    def __init__(self, what: str) -> None:
        super().__init__(what, next_step="Run the bench again; nothing else may use its folder.")


@dataclass(frozen=True, slots=True)
class Job:
    """One ended job."""

    kind: str
    started_at: datetime
    finished_at: datetime

    @property
    def run_s(self) -> float:
        """Return how long its attempt ran; a bench's jobs have one."""
        return (self.finished_at - self.started_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Captured:
    """One captured snapshot: the picture that counts, and its timings by step."""

    duration_ms: float
    timings_ms: Mapping[str, float]

    @property
    def pictures_ms(self) -> float:
        """Return what all its pictures took, the one that was not believed too."""
        return self.duration_ms + self.timings_ms.get("first_picture", 0.0)


@dataclass(frozen=True, slots=True)
class BuildRun:
    """All that is known of one build; `shards_ms` has each shard's own steps."""

    sealed_at: datetime
    ended_at: datetime
    jobs: Sequence[Job]
    snapshots: Sequence[Captured]
    shards_ms: Sequence[Mapping[str, float]]
    slots: int

    @property
    def wall_s(self) -> float:
        """Return the time from seal to verdict."""
        return (self.ended_at - self.sealed_at).total_seconds()

    @property
    def stories_per_s(self) -> float:
        """Return the figure that all this is about."""
        return len(self.snapshots) / self.wall_s

    def only(self, kind: str) -> Job:
        """Return the one job of a kind; raises UnreadableRunError."""
        found = [job for job in self.jobs if job.kind == kind]
        if len(found) != 1:
            raise UnreadableRunError(f"The build has {len(found)} {kind} jobs instead of one.")
        return found[0]

    @property
    def captures(self) -> Sequence[Job]:
        """Return the capture jobs; raises UnreadableRunError if there is none."""
        found = [job for job in self.jobs if job.kind == "capture"]
        if not found:
            raise UnreadableRunError("The build captured nothing.")
        return found


@dataclass(frozen=True, slots=True)
class Split:
    """Seconds of wall time; `rest` is what nobody measured."""

    wait: float
    plan: float
    child: float
    render: float
    compare: float
    store: float
    idle: float
    finalise: float
    rest: float

    def parts(self) -> dict[str, float]:
        """Return the parts by name, in the order of the flow."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def sum_s(self) -> float:
        """Return the wall time again."""
        return sum(self.parts().values())

    @property
    def unexplained(self) -> float:
        """Return the share of the wall time that no part accounts for."""
        return abs(self.rest) / self.sum_s


def split(run: BuildRun) -> Split:
    """Split the wall time of one build. Raises UnreadableRunError."""
    plan, finalise, captures = run.only("plan"), run.only("finalise"), run.captures
    first_claim = min(job.started_at for job in captures)
    last_end = max(job.finished_at for job in captures)
    waits = (
        (run.sealed_at, plan.started_at),
        (plan.finished_at, first_claim),
        (last_end, finalise.started_at),
    )
    working_s = (last_end - first_claim).total_seconds()
    slots_s = sum(job.run_s for job in captures) / run.slots
    pictures_s = sum(each.pictures_ms for each in run.snapshots) / 1000
    known = {
        "wait": sum((end - start).total_seconds() for start, end in waits),
        "plan": plan.run_s,
        "child": _step_s(run.shards_ms, "child") / run.slots,
        "render": pictures_s / run.slots,
        "compare": _step_s(_timings(run), "compare") / run.slots,
        "store": (_step_s(_timings(run), "store") + _step_s(run.shards_ms, "record")) / run.slots,
        "idle": working_s - slots_s,
        "finalise": finalise.run_s,
    }
    return Split(**known, rest=run.wall_s - sum(known.values()))


def per_picture_ms(run: BuildRun) -> dict[str, float]:
    """Return the mean of what a picture that counts took, by the child's steps.

    `between` is what the parent waited beyond them: the request, and the picture's way to it.
    """
    count = len(run.snapshots)
    steps = {step: 1000 * _step_s(_timings(run), step) / count for step in RENDER_STEPS}
    total = sum(each.duration_ms for each in run.snapshots) / count
    return {**steps, "between": total - sum(steps.values())}


def _timings(run: BuildRun) -> Iterable[Mapping[str, float]]:
    return (each.timings_ms for each in run.snapshots)


def _step_s(timings_ms: Iterable[Mapping[str, float]], step: str) -> float:
    return sum(each.get(step, 0.0) for each in timings_ms) / 1000
