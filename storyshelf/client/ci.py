"""What the CI run around an upload knows: which commit it is about, and where it was started from.

A pull request is built at its head: the merge commit that a CI makes for the run exists nowhere
else, so no commit status could be seen on it. A merge queue's commit is one that will be on the
branch, and is built as it is. A branch of a fork is named `owner:branch`, so that it is no branch
of ours.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from storyshelf.client.commit import CommitFacts

QUEUED = re.compile(r"/pr-([0-9]+)-[0-9a-f]+$")  # how GitHub ends the name of a queue's branch
LAST_NUMBER = re.compile(r"/([0-9]+)/?$")
MAX_NUMBER = 2**31 - 1

Environ = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CiRun:
    """One run; None for what its provider does not tell."""

    provider: str
    commit: CommitFacts = field(default_factory=CommitFacts)
    event: str | None = None
    run_url: str | None = None
    repository: str | None = None
    base_branch: str | None = None
    pull_request: int | None = None
    is_fork: bool = False

    def facts(self) -> dict[str, object]:
        """Return what a build remembers of the run, as the API takes it."""
        known = asdict(self)
        del known["commit"], known["pull_request"]
        return {name: value for name, value in known.items() if value not in {None, ""}}


def detect(environ: Environ) -> CiRun | None:
    """Return the run that this process is part of; None: nobody's, as on a person's machine."""
    for is_there, read in PROVIDERS:
        if environ.get(is_there):
            return read(environ)
    if environ.get("CI", "").lower() in {"true", "1", "yes"}:
        return CiRun("unknown")
    return None


def _github(environ: Environ) -> CiRun:
    event = _event(environ.get("GITHUB_EVENT_PATH"))
    name = environ.get("GITHUB_EVENT_NAME", "")
    run = CiRun(
        provider="github",
        commit=CommitFacts(environ.get("GITHUB_SHA"), environ.get("GITHUB_REF_NAME")).cleaned(),
        event=name or None,
        run_url=_github_run(environ),
        repository=environ.get("GITHUB_REPOSITORY") or None,
        base_branch=environ.get("GITHUB_BASE_REF") or None,
    )
    if name.startswith("pull_request"):
        return _github_pull_request(run, event, environ)
    if name == "merge_group":
        return _github_merge_group(run, event)
    return run


def _github_pull_request(run: CiRun, event: Any, environ: Environ) -> CiRun:
    head = _text(event, "pull_request", "head", "repo", "full_name")
    base = _text(event, "pull_request", "base", "repo", "full_name")
    owner = _text(event, "pull_request", "head", "repo", "owner", "login")
    is_fork = bool(event) and head != base  # a fork that was deleted has no name any more
    branch = environ.get("GITHUB_HEAD_REF") or None
    if is_fork and branch and owner:
        branch = f"{owner}:{branch}"
    return replace(
        run,
        commit=CommitFacts(_text(event, "pull_request", "head", "sha"), branch),
        pull_request=_number(_at(event, "pull_request", "number")),
        is_fork=is_fork,
    )


def _github_merge_group(run: CiRun, event: Any) -> CiRun:
    branch = run.commit.branch or ""
    queued = QUEUED.search(branch)
    base = _text(event, "merge_group", "base_ref")
    return replace(
        run,
        commit=CommitFacts(_text(event, "merge_group", "head_sha") or run.commit.commit, branch),
        base_branch=base.removeprefix("refs/heads/") if base else None,
        pull_request=_number(queued[1]) if queued else None,
    )


def _github_run(environ: Environ) -> str | None:
    parts = [environ.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    if not all(parts):
        return None
    server, repository, run_id = parts
    return f"{server}/{repository}/actions/runs/{run_id}"


def _gitlab(environ: Environ) -> CiRun:
    """Read GitLab's; in a merged-results pipeline CI_COMMIT_SHA exists for that pipeline only."""
    source = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
    branch = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")
    from_project = environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
    is_fork = bool(from_project) and from_project != environ.get("CI_MERGE_REQUEST_PROJECT_ID")
    owner = environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "").partition("/")[0]
    if branch and is_fork and owner:
        branch = f"{owner}:{branch}"
    return CiRun(
        provider="gitlab",
        commit=CommitFacts(
            commit=source or environ.get("CI_COMMIT_SHA"),
            branch=branch or environ.get("CI_COMMIT_REF_NAME"),
            message=None if source else environ.get("CI_COMMIT_MESSAGE"),
            author=None if source else environ.get("CI_COMMIT_AUTHOR"),
        ).cleaned(),
        event=environ.get("CI_MERGE_REQUEST_EVENT_TYPE")
        or environ.get("CI_PIPELINE_SOURCE")
        or None,
        run_url=environ.get("CI_PIPELINE_URL") or None,
        repository=environ.get("CI_PROJECT_PATH") or None,
        base_branch=environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or None,
        pull_request=_number(environ.get("CI_MERGE_REQUEST_IID")),
        is_fork=is_fork,
    )


def _circleci(environ: Environ) -> CiRun:
    names = (environ.get("CIRCLE_PROJECT_USERNAME"), environ.get("CIRCLE_PROJECT_REPONAME"))
    number = LAST_NUMBER.search(environ.get("CIRCLE_PULL_REQUEST", ""))
    return CiRun(
        provider="circleci",
        commit=CommitFacts(environ.get("CIRCLE_SHA1"), environ.get("CIRCLE_BRANCH")).cleaned(),
        run_url=environ.get("CIRCLE_BUILD_URL") or None,
        repository="/".join(name for name in names if name) or None,
        pull_request=_number(number[1]) if number else None,
        is_fork=bool(environ.get("CIRCLE_PR_NUMBER")),  # set for a fork's pull request alone
    )


def _plain(provider: str, names: Mapping[str, str]) -> Callable[[Environ], CiRun]:
    """Return the reader of a CI that says each thing in one variable."""

    def read(environ: Environ) -> CiRun:
        said = {what: environ.get(variable) or None for what, variable in names.items()}
        return CiRun(
            provider=provider,
            commit=CommitFacts(said["commit"], said["branch"]),
            run_url=said.get("run_url"),
            repository=said.get("repository"),
            base_branch=said.get("base_branch"),
            pull_request=_number(said.get("pull_request")),
        )

    return read


BUILDKITE = {
    "commit": "BUILDKITE_COMMIT",
    "branch": "BUILDKITE_BRANCH",
    "run_url": "BUILDKITE_BUILD_URL",
    "base_branch": "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
    "pull_request": "BUILDKITE_PULL_REQUEST",  # "false" where there is none
}
BITBUCKET = {
    "commit": "BITBUCKET_COMMIT",
    "branch": "BITBUCKET_BRANCH",
    "repository": "BITBUCKET_REPO_FULL_NAME",
    "base_branch": "BITBUCKET_PR_DESTINATION_BRANCH",
    "pull_request": "BITBUCKET_PR_ID",
}
PROVIDERS: tuple[tuple[str, Callable[[Environ], CiRun]], ...] = (
    ("GITHUB_ACTIONS", _github),
    ("GITLAB_CI", _gitlab),
    ("CIRCLECI", _circleci),
    ("BUILDKITE", _plain("buildkite", BUILDKITE)),
    ("BITBUCKET_BUILD_NUMBER", _plain("bitbucket", BITBUCKET)),
)


def _event(path: str | None) -> Any:
    """Return the event that started a workflow; None: it cannot be read."""
    try:
        return json.loads(Path(path or "").read_bytes())
    except (OSError, ValueError):
        return None


def _at(document: Any, *keys: str) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _text(document: Any, *keys: str) -> str | None:
    value = _at(document, *keys)
    return value if isinstance(value, str) and value else None


def _number(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdecimal() and 0 < int(text) <= MAX_NUMBER else None
