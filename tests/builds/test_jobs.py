"""The jobs of a build, and what is refused as their payload."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import (
    BuildPayload,
    ShardPayload,
    capture_job,
    finalise_job,
    parse_capture,
    parse_finalise,
    parse_plan,
    plan_job,
)
from storyshelf.ids import BuildId, EnvironmentId, ProjectId, ShardId
from storyshelf.queue.job import MalformedPayloadError, Payload, Trace

WHEN = datetime(2030, 1, 1, tzinfo=UTC)
BUILD = Build(
    id=BuildId(7),
    project_id=ProjectId(3),
    number=5,
    idempotency_key="key",
    branch="main",
    commit="c0ffee",
    message=None,
    author=None,
    state=BuildState.CAPTURING,
    state_reason=None,
    generation=2,
    planned_generation=2,
    open_shards=1,
    finalise_job_id=None,
    ancestor_build_id=None,
    rule=None,
    environment_id=EnvironmentId("linux-1"),
    created_at=WHEN,
    sealed_at=WHEN,
    planned_at=WHEN,
    ended_at=None,
)


def test_every_job_of_a_build_carries_the_trace_of_its_upload() -> None:
    traced = replace(BUILD, request_id="ci-42", traceparent="00-1-2-01")
    jobs = [plan_job(traced), capture_job(traced, ShardId(9)), finalise_job(traced)]
    assert [job.trace for job in jobs] == [Trace("ci-42", "00-1-2-01")] * 3


def test_a_plan_job_reads_back_as_its_build_and_generation() -> None:
    assert parse_plan(plan_job(BUILD).payload) == BuildPayload(BuildId(7), 2)


def test_a_finalise_job_reads_back_as_its_build_and_generation() -> None:
    assert parse_finalise(finalise_job(BUILD).payload) == BuildPayload(BuildId(7), 2)


def test_a_capture_job_reads_back_as_its_shard() -> None:
    payload = capture_job(BUILD, ShardId(9)).payload
    assert parse_capture(payload) == ShardPayload(BuildId(7), 2, ShardId(9))


def test_a_capture_waits_for_a_consumer_of_the_builds_environment() -> None:
    assert capture_job(BUILD, ShardId(9)).lane == "capture@linux-1"


@pytest.mark.parametrize("job", [plan_job(BUILD), finalise_job(BUILD)], ids=lambda job: job.kind)
def test_a_build_has_one_such_job_a_generation(job: Any) -> None:
    assert job.dedupe_key == f"{job.kind}:7:2"


def test_a_shard_has_one_capture_job_a_generation() -> None:
    assert capture_job(BUILD, ShardId(9)).dedupe_key == "capture:9:2"


@pytest.mark.parametrize("parse", [parse_plan, parse_finalise, parse_capture])
@pytest.mark.parametrize("wrong", [None, "7", 7.0, True, 0, -1, [7]])
def test_a_payload_whose_build_is_no_number_is_malformed(
    parse: Callable[[Payload], object], wrong: object
) -> None:
    with pytest.raises(MalformedPayloadError, match="build_id"):
        parse({"build_id": wrong, "generation": 1, "shard_id": 1})


@pytest.mark.parametrize("missing", ["build_id", "generation", "shard_id"])
def test_a_payload_that_lacks_a_part_is_malformed_and_names_it(missing: str) -> None:
    whole = {"build_id": 1, "generation": 1, "shard_id": 1}
    with pytest.raises(MalformedPayloadError, match=f"capture job is malformed: {missing}"):
        parse_capture({name: value for name, value in whole.items() if name != missing})
