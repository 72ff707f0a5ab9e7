import subprocess
from pathlib import Path

import pytest

from storyshelf.client.commit import CommitFacts
from storyshelf.client.git import (
    MAX_MESSAGE_CHARS,
    UnknownBranchError,
    UnknownCommitError,
    git_facts,
    identify,
)

SAID = CommitFacts("a" * 40, "feature/x")


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "First\n\nwith a body")
    return folder


def test_git_knows_commit_branch_message_and_author(checkout: Path) -> None:
    commit = identify(CommitFacts(), CommitFacts(), checkout)
    assert commit.commit == git(checkout, "rev-parse", "HEAD")
    assert commit.branch == "main"
    assert commit.message == "First\n\nwith a body"
    assert commit.author == "Ada <ada@example.org>"


def test_a_folder_inside_the_checkout_will_do(checkout: Path) -> None:
    (checkout / "storybook-static").mkdir()
    assert identify(CommitFacts(), CommitFacts(), checkout / "storybook-static").branch == "main"


@pytest.mark.parametrize("branch", ["feature/log-in#2", "fix-🎉"])
def test_branches_keep_their_names(checkout: Path, branch: str) -> None:
    git(checkout, "checkout", "-q", "-b", branch)
    assert identify(CommitFacts(), CommitFacts(), checkout).branch == branch


def test_what_is_said_beats_git(checkout: Path) -> None:
    commit = identify(SAID, CommitFacts(), checkout)
    assert (commit.commit, commit.branch) == (SAID.commit, SAID.branch)


def test_the_message_of_another_commit_is_not_taken(checkout: Path) -> None:
    assert identify(SAID, CommitFacts(), checkout).message is None


def test_a_detached_head_at_one_branch_is_on_it(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "--detach")
    assert identify(CommitFacts(), CommitFacts(), checkout).branch == "main"


def test_a_detached_head_at_two_branches_needs_to_be_told(checkout: Path) -> None:
    git(checkout, "branch", "other")
    git(checkout, "checkout", "-q", "--detach")
    with pytest.raises(UnknownBranchError, match="--branch"):
        identify(CommitFacts(), CommitFacts(), checkout)
    assert identify(CommitFacts(branch="release"), CommitFacts(), checkout).branch == "release"


def test_a_shallow_clone_of_depth_one_is_enough(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "commit", "-q", "--allow-empty", "-m", "Second")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", checkout.as_uri(), str(clone))
    assert identify(CommitFacts(), CommitFacts(), clone).message == "Second"


def test_no_repository_needs_to_be_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownCommitError, match=r"not a git repository.*--commit and --branch"):
        identify(CommitFacts(), CommitFacts(), tmp_path)
    assert identify(SAID, CommitFacts(), tmp_path).commit == SAID.commit


def test_a_repository_without_a_commit_needs_to_be_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(UnknownCommitError):
        identify(CommitFacts(), CommitFacts(), tmp_path)


def test_a_machine_without_git_needs_to_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_facts(tmp_path) == (CommitFacts(), "git is not installed")


def test_a_message_of_any_length_is_cut(checkout: Path) -> None:
    git(checkout, "commit", "-q", "--allow-empty", "-m", "x" * 20_000)
    message = identify(CommitFacts(), CommitFacts(), checkout).message
    assert message is not None
    assert len(message) == MAX_MESSAGE_CHARS
