"""Which environments builds can be captured in now, and what a build waits for that nobody does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.environment_store import in_words
from storyshelf.builds.jobs import BUILD_LANE, CAPTURE_LANE, PLAN_LANE
from storyshelf.db.engine import Tx
from storyshelf.ids import EnvironmentId
from storyshelf.queue import store as queue
from storyshelf.queue.job import JobState
from storyshelf.queue.store import LiveJob
from storyshelf.queue.unserved import SILENT_FOR

BOOT = timedelta(seconds=20)  # from the start of a consumer to its first claim
MAX_REPLANS = 3  # consumers that come and go must not send a build to and fro for ever
LANES = {BuildState.QUEUED: PLAN_LANE, BuildState.PLANNING: PLAN_LANE}
START_ONE = (
    "Start one beside the database with `storyshelf-consumer`, or have one that takes no more work "
    "take it again; the build goes on by itself."
)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What a build waits for that no live consumer does, and what to do about it."""

    what: str
    next_step: str


def capture_lane(environment: EnvironmentId) -> str:
    """Return the lane of captures in an environment."""
    return f"{CAPTURE_LANE}@{environment}"


def environment_of(lane: str) -> EnvironmentId | None:
    """Return the environment that a capture lane is of; None: it is another lane."""
    stem, _, environment = lane.partition("@")
    return EnvironmentId(environment) if stem == CAPTURE_LANE and environment else None


async def environments_there(tx: Tx) -> Sequence[EnvironmentId]:
    """Return the environments of live consumers that could plan a build and capture it."""
    offers = [each for each in await queue.offers(tx, SILENT_FOR) if PLAN_LANE in each]
    lanes = [lane for each in offers for lane in each]
    return sorted({found for lane in lanes if (found := environment_of(lane)) is not None})


async def obstacle_of(tx: Tx, build: Build) -> Obstacle | None:
    """Return what a build waits for, if no live consumer takes that and none is at it still.

    Nor where no consumer takes anything, and its jobs are so new that the first may be starting:
    that is not known before it is ready.
    """
    lane = _lane_of(build)
    if lane is None:
        return None
    offers = await queue.offers(tx, SILENT_FOR)
    if any(lane in each for each in offers):
        return None
    live = await queue.live_jobs(tx, build.id)
    if any(job.state is JobState.RUNNING or (not offers and _is_new(job)) for job in live):
        return None
    if environment_of(lane) is None:
        return Obstacle(f"No consumer takes {lane} jobs", START_ONE)
    return await _of_environment(tx, build)


def _is_new(job: LiveJob) -> bool:
    """Tell whether nobody may have been ready for it; one that was begun and given back had one."""
    return job.attempt == 0 and job.age < BOOT


def _lane_of(build: Build) -> str | None:
    """Return the lane on which the build's next job waits."""
    if build.state is not BuildState.CAPTURING:
        return LANES.get(build.state)
    if build.open_shards == 0 or build.environment_id is None:
        return BUILD_LANE
    return capture_lane(build.environment_id)


async def _of_environment(tx: Tx, build: Build) -> Obstacle:
    mine = await in_words(tx, build.environment_id)
    others = [await in_words(tx, each) for each in await environments_there(tx)]
    what = f"No consumer has the browser this build is captured in: {mine}"
    if not others:
        return Obstacle(what, START_ONE)
    there = f"There is {' and '.join(others)}"
    if build.replans < MAX_REPLANS:
        return Obstacle(what, f"{there}; the build is planned again for it in a few minutes.")
    return Obstacle(
        what,
        f"{there}, but the build was planned again {build.replans} times already: start a consumer "
        "with the browser above, or cancel the build and capture it again.",
    )
