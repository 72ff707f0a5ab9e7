"""The jobs of a build, as they are enqueued, and their payloads as they are read back."""

from dataclasses import dataclass, replace
from typing import Any

from storyshelf.builds.build import Build
from storyshelf.ids import BuildId, ShardId
from storyshelf.queue.job import MalformedPayloadError, NewJob, Payload, Priority

PLAN = "plan"
CAPTURE = "capture"
FINALISE = "finalise"
PLAN_LANE = "plan"
CAPTURE_LANE = "capture"
BUILD_LANE = "build"


@dataclass(frozen=True, slots=True)
class BuildPayload:
    """Of a plan or finalise job."""

    build_id: BuildId
    generation: int


@dataclass(frozen=True, slots=True)
class ShardPayload:
    """Of a capture job."""

    build_id: BuildId
    generation: int
    shard_id: ShardId


def plan_job(build: Build) -> NewJob:
    """Return the one plan job of the build's generation."""
    return _of_build(build, PLAN, PLAN_LANE)


def capture_job(build: Build, shard_id: ShardId) -> NewJob:
    """Return the job that captures a shard in the environment the build is pinned to."""
    assert build.environment_id is not None, "a build is planned in an environment"
    job = _of_build(build, CAPTURE, f"{CAPTURE_LANE}@{build.environment_id}")
    return replace(
        job,
        payload={**job.payload, "shard_id": shard_id},
        dedupe_key=f"{CAPTURE}:{shard_id}:{build.generation}",
    )


def finalise_job(build: Build) -> NewJob:
    """Return the one finalise job of the build's generation."""
    return replace(
        _of_build(build, FINALISE, BUILD_LANE),
        max_attempts=10,  # short, idempotent, and nobody else ends the build
    )


def for_somebody(job: NewJob) -> NewJob:
    """Return the job as one that somebody waits for: it goes first, and has places kept for it."""
    return replace(job, priority=Priority.INTERACTIVE)


def _of_build(build: Build, kind: str, lane: str) -> NewJob:
    return NewJob(
        kind=kind,
        lane=lane,
        payload={"build_id": build.id, "generation": build.generation},
        project_id=build.project_id,
        build_id=build.id,
        generation=build.generation,
        dedupe_key=f"{kind}:{build.id}:{build.generation}",
        trace=build.trace,
    )


def parse_plan(payload: Payload) -> BuildPayload:
    """Read a plan job's payload; raises MalformedPayloadError."""
    return _build_payload(PLAN, payload)


def parse_finalise(payload: Payload) -> BuildPayload:
    """Read a finalise job's payload; raises MalformedPayloadError."""
    return _build_payload(FINALISE, payload)


def parse_capture(payload: Payload) -> ShardPayload:
    """Read a capture job's payload; raises MalformedPayloadError."""
    of_build = _build_payload(CAPTURE, payload)
    shard_id = ShardId(_id(CAPTURE, payload, "shard_id"))
    return ShardPayload(of_build.build_id, of_build.generation, shard_id)


def _build_payload(kind: str, payload: Payload) -> BuildPayload:
    return BuildPayload(BuildId(_id(kind, payload, "build_id")), _id(kind, payload, "generation"))


def _id(kind: str, payload: Payload, name: str) -> int:
    value: Any = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise MalformedPayloadError(kind, f"{name} is {value!r}, not a number from 1")
    return value
