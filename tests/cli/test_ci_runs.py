"""Commands in a run of CI: where a build is from, and when nothing is captured."""

import json
from pathlib import Path

import pytest

from storyshelf.cli.main import run
from tests.cli.captured import Captured, read_json
from tests.client.server import FakeServer


def github_run(environment: pytest.MonkeyPatch, folder: Path, head: str) -> None:
    """Make the environment that of a pull request's run, whose head is of that repository."""
    event = folder / "event.json"
    repository = {"full_name": head, "owner": {"login": head.partition("/")[0]}}
    event.write_text(
        json.dumps(
            {
                "pull_request": {
                    "number": 12,
                    "head": {"sha": "d" * 40, "repo": repository},
                    "base": {"repo": {"full_name": "acme/shop"}},
                }
            }
        )
    )
    for name in ("STORYSHELF_COMMIT", "STORYSHELF_BRANCH"):
        environment.delenv(name)
    environment.setenv("GITHUB_ACTIONS", "true")
    environment.setenv("GITHUB_EVENT_NAME", "pull_request")
    environment.setenv("GITHUB_EVENT_PATH", str(event))
    environment.setenv("GITHUB_HEAD_REF", "feature")
    environment.setenv("GITHUB_REPOSITORY", "acme/shop")


def test_a_pull_requests_run_says_where_it_is_from(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    github_run(environment, tmp_path, "acme/shop")
    assert run(["upload", str(folder)]) == 0
    body = server.build(1).body
    assert (body["commit"], body["branch"], body["pull_request"]) == ("d" * 40, "feature", 12)
    assert body["ci"]["repository"] == "acme/shop"


@pytest.mark.parametrize("command", [["upload"], ["publish"], ["skip"]])
def test_a_fork_without_a_token_is_skipped_with_a_sentence(
    server: FakeServer,
    folder: Path,
    environment: pytest.MonkeyPatch,
    capsys: Captured,
    command: list[str],
) -> None:
    github_run(environment, folder.parent, "eve/shop")
    for name in ("STORYSHELF_PROJECT_TOKEN", "STORYSHELF_URL"):
        environment.delenv(name)
    environment.chdir(folder.parent)
    assert run(command) == 0
    out = capsys.readouterr().out
    assert "Skipped: a pull request from a fork gets none of the repository's secrets" in out
    assert "::warning title=storyshelf::a pull request from a fork" in out
    assert server.requests == []


def test_a_run_of_ours_without_a_token_is_skipped_and_says_what_to_set(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, capsys: Captured
) -> None:
    environment.setenv("CI", "true")
    environment.delenv("STORYSHELF_PROJECT_TOKEN")
    assert run([str(folder), "--json"]) == 0
    document = read_json(capsys)
    assert "Set STORYSHELF_PROJECT_TOKEN" in document["skipped"]
    assert document["build"] is None


def test_a_run_of_ours_that_names_no_server_is_wrong(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, capsys: Captured
) -> None:
    environment.setenv("CI", "true")
    environment.delenv("STORYSHELF_URL")
    assert run([str(folder)]) == 254
    assert "Set STORYSHELF_URL" in capsys.readouterr().err


def test_a_person_without_a_token_has_forgotten_it(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, capsys: Captured
) -> None:
    environment.delenv("STORYSHELF_PROJECT_TOKEN")
    assert run([str(folder)]) == 254
    assert "Set STORYSHELF_PROJECT_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize(("glob", "skipped"), [("renovate/*", 1), ("**", 1), ("main", 0)])
def test_a_branch_can_be_skipped_and_its_checks_are_told(
    server: FakeServer, folder: Path, capsys: Captured, glob: str, skipped: int
) -> None:
    assert run(["publish", str(folder), "--branch", "renovate/vite-9", "--skip", glob]) == 0
    assert [each["reason"] for each in server.skips] == [
        f"branch renovate/vite-9 is one of --skip {glob}"
    ] * skipped
    assert bool(server.puts) is not bool(skipped)


def test_a_commit_can_be_skipped_by_a_command(server: FakeServer, capsys: Captured) -> None:
    assert run(["skip", "--reason", "docs only", "--pull-request", "12"]) == 0
    (told,) = server.skips
    assert (told["commit"], told["reason"], told["pull_request"]) == ("c" * 40, "docs only", 12)
    assert "Skipped: docs only" in capsys.readouterr().out


def test_github_gets_the_outputs_that_its_workflows_know(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    assert run([str(folder)]) == 0
    outputs = dict(line.split("=", 1) for line in (tmp_path / "outputs").read_text().splitlines())
    assert outputs["code"] == "0"
    assert outputs["buildUrl"] == "http://shelf.test/projects/demo/builds/1"
    assert outputs["changeCount"] == "0"


def test_a_skip_has_outputs_too_with_a_server_and_without(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    assert run(["skip"]) == 0
    outputs = dict(line.split("=", 1) for line in (tmp_path / "outputs").read_text().splitlines())
    assert outputs["code"] == "0"
    assert outputs["buildUrl"] == "http://shelf.test/projects/demo/builds/1"
    environment.setenv("GITHUB_OUTPUT", str(tmp_path / "without"))
    environment.setenv("CI", "true")
    environment.delenv("STORYSHELF_PROJECT_TOKEN")
    assert run([str(folder)]) == 0
    assert (tmp_path / "without").read_text() == "code=0\n"
