"""Runs of CI machines, as their own variables and event files describe them."""

import json
from pathlib import Path
from typing import Any

import pytest

from storyshelf.client.ci import CiRun, detect
from storyshelf.client.commit import CommitFacts

GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_SHA": "e" * 40,
    "GITHUB_SERVER_URL": "https://github.example",
    "GITHUB_REPOSITORY": "acme/shop",
    "GITHUB_RUN_ID": "77",
}
HEAD = {"sha": "d" * 40, "repo": {"full_name": "acme/shop", "owner": {"login": "acme"}}}
FORKED = {"sha": "d" * 40, "repo": {"full_name": "eve/shop", "owner": {"login": "eve"}}}
BASE = {"repo": {"full_name": "acme/shop"}}


def run_of(environ: dict[str, str]) -> CiRun:
    run = detect(environ)
    assert run is not None
    return run


def on_github(folder: Path, event: Any, **environ: str) -> CiRun:
    (folder / "event.json").write_text(event if isinstance(event, str) else json.dumps(event))
    return run_of({**GITHUB, "GITHUB_EVENT_PATH": str(folder / "event.json"), **environ})


def pull_request(folder: Path, head: Any) -> CiRun:
    event = {"pull_request": {"number": 12, "head": head, "base": BASE}}
    return on_github(
        folder,
        event,
        GITHUB_EVENT_NAME="pull_request",
        GITHUB_REF_NAME="12/merge",
        GITHUB_HEAD_REF="feature",
        GITHUB_BASE_REF="main",
    )


@pytest.mark.parametrize("environ", [{}, {"CI": ""}, {"CI": "false"}])
def test_a_persons_machine_is_no_run(environ: dict[str, str]) -> None:
    assert detect(environ) is None


def test_a_run_of_a_ci_that_nobody_knows_says_nothing() -> None:
    assert run_of({"CI": "true"}).facts() == {"provider": "unknown", "is_fork": False}


def test_a_push_on_github_is_read_from_its_variables(tmp_path: Path) -> None:
    run = on_github(tmp_path, {}, GITHUB_EVENT_NAME="push", GITHUB_REF_NAME="main")
    assert run.commit == CommitFacts("e" * 40, "main")
    assert run.pull_request is None
    assert run.facts() == {
        "provider": "github",
        "event": "push",
        "run_url": "https://github.example/acme/shop/actions/runs/77",
        "repository": "acme/shop",
        "is_fork": False,
    }


def test_a_pull_request_on_github_is_its_head_not_the_merge_commit(tmp_path: Path) -> None:
    run = pull_request(tmp_path, HEAD)
    assert run.commit == CommitFacts("d" * 40, "feature")
    assert (run.pull_request, run.base_branch, run.is_fork) == (12, "main", False)


def test_the_branch_of_a_fork_is_none_of_ours(tmp_path: Path) -> None:
    run = pull_request(tmp_path, FORKED)
    assert (run.commit.branch, run.is_fork) == ("eve:feature", True)


def test_a_fork_that_was_deleted_is_one_still(tmp_path: Path) -> None:
    assert pull_request(tmp_path, {"sha": "d" * 40, "repo": None}).is_fork


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"pull_request": {"head": {"sha": 3}}}'])
def test_a_github_event_that_cannot_be_read_says_nothing(tmp_path: Path, content: str) -> None:
    run = on_github(tmp_path, content, GITHUB_EVENT_NAME="pull_request")
    assert (run.commit.commit, run.pull_request) == (None, None)


def test_a_merge_queue_on_github_is_the_commit_that_will_be_on_the_branch(tmp_path: Path) -> None:
    queue = f"gh-readonly-queue/main/pr-31-{'a' * 40}"
    event = {"merge_group": {"head_sha": "f" * 40, "base_ref": "refs/heads/main"}}
    run = on_github(tmp_path, event, GITHUB_EVENT_NAME="merge_group", GITHUB_REF_NAME=queue)
    assert run.commit == CommitFacts("f" * 40, queue)
    assert (run.pull_request, run.base_branch) == (31, "main")


def test_a_branch_pipeline_on_gitlab_is_read_from_its_variables() -> None:
    run = run_of(
        {
            "GITLAB_CI": "true",
            "CI_COMMIT_SHA": "b" * 40,
            "CI_COMMIT_REF_NAME": "main",
            "CI_COMMIT_MESSAGE": "Blue",
            "CI_COMMIT_AUTHOR": "Ada <a@b>",
            "CI_PIPELINE_SOURCE": "push",
            "CI_PIPELINE_URL": "https://gitlab.example/acme/shop/-/pipelines/5",
            "CI_PROJECT_PATH": "acme/shop",
        }
    )
    assert run.commit == CommitFacts("b" * 40, "main", "Blue", "Ada <a@b>")
    assert run.facts() == {
        "provider": "gitlab",
        "event": "push",
        "run_url": "https://gitlab.example/acme/shop/-/pipelines/5",
        "repository": "acme/shop",
        "is_fork": False,
    }


@pytest.mark.parametrize(
    ("project", "path", "branch"),
    [("7", "acme/shop", "feature"), ("9", "eve/shop", "eve:feature")],
)
def test_a_merged_results_pipeline_on_gitlab_is_its_source(
    project: str, path: str, branch: str
) -> None:
    run = run_of(
        {
            "GITLAB_CI": "true",
            "CI_COMMIT_SHA": "e" * 40,
            "CI_COMMIT_REF_NAME": "refs/merge-requests/1/merge",
            "CI_COMMIT_MESSAGE": "Merge",
            "CI_MERGE_REQUEST_IID": "1",
            "CI_MERGE_REQUEST_EVENT_TYPE": "merged_result",
            "CI_MERGE_REQUEST_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": project,
            "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": path,
            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "feature",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "d" * 40,
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        }
    )
    assert run.commit == CommitFacts("d" * 40, branch)
    assert (run.pull_request, run.base_branch, run.event) == (1, "main", "merged_result")
    assert run.is_fork is (project != "7")


@pytest.mark.parametrize(
    ("environ", "commit", "pull_request"),
    [
        (
            {
                "CIRCLECI": "true",
                "CIRCLE_SHA1": "b" * 40,
                "CIRCLE_BRANCH": "feature",
                "CIRCLE_PULL_REQUEST": "https://github.example/acme/shop/pull/4",
            },
            CommitFacts("b" * 40, "feature"),
            4,
        ),
        (
            {
                "BUILDKITE": "true",
                "BUILDKITE_COMMIT": "b" * 40,
                "BUILDKITE_BRANCH": "main",
                "BUILDKITE_PULL_REQUEST": "false",
            },
            CommitFacts("b" * 40, "main"),
            None,
        ),
        (
            {
                "BITBUCKET_BUILD_NUMBER": "9",
                "BITBUCKET_COMMIT": "b" * 40,
                "BITBUCKET_BRANCH": "feature",
                "BITBUCKET_PR_ID": "5",
            },
            CommitFacts("b" * 40, "feature"),
            5,
        ),
    ],
)
def test_other_providers_say_each_thing_in_a_variable(
    environ: dict[str, str], commit: CommitFacts, pull_request: int | None
) -> None:
    run = run_of(environ)
    assert (run.commit, run.pull_request) == (commit, pull_request)
