"""Which commit is uploaded: what was said, what the CI knows, what git says; in this order."""

import subprocess
from pathlib import Path

from storyshelf.client.commit import Commit, CommitFacts
from storyshelf.client.exit_codes import InvalidOptionsError

GIT_DEADLINE_S = 10
MAX_MESSAGE_CHARS = 5_000  # a commit message of any length may exist; nobody reads more here

_HEADS = ("refs/heads/", "refs/remotes/origin/")


class UnknownCommitError(InvalidOptionsError):
    """Nobody knows which commit this is."""

    def __init__(self, reason: str, folder: Path) -> None:
        super().__init__(
            f"The commit is not known: {reason}",
            where=str(folder),
            next_step="Say it with --commit and --branch, or STORYSHELF_COMMIT and "
            "STORYSHELF_BRANCH.",
        )


class UnknownBranchError(InvalidOptionsError):
    """The commit is known and the branch is not, as on a detached head."""

    def __init__(self, commit: str, folder: Path) -> None:
        super().__init__(
            f"The branch of commit {commit[:12]} is not known: no branch is checked out",
            where=str(folder),
            next_step="Say it with --branch or STORYSHELF_BRANCH.",
        )


def identify(said: CommitFacts, from_ci: CommitFacts, folder: Path) -> Commit:
    """Put the sources together, or raise what is missing."""
    facts = said.or_else(from_ci)
    problem = "no git was asked"
    if None in {facts.commit, facts.branch, facts.message, facts.author}:
        from_git, problem = git_facts(folder)
        facts = facts.or_else(from_git)
    if facts.commit is None:
        raise UnknownCommitError(problem, folder)
    if facts.branch is None:
        raise UnknownBranchError(facts.commit, folder)
    message = facts.message[:MAX_MESSAGE_CHARS] if facts.message else None
    return Commit(facts.commit, facts.branch, message, facts.author or None)


def git_facts(folder: Path) -> tuple[CommitFacts, str]:
    """Ask git about the checkout around a folder; the text says why it knows nothing."""
    try:
        commit = _git(folder, "rev-parse", "--verify", "HEAD^{commit}")
        message, _, author = _git(folder, "log", "-1", "--format=%B%x00%an <%ae>").partition("\0")
        branch = _branch(folder)
    except FileNotFoundError:
        return CommitFacts(), "git is not installed"
    except subprocess.TimeoutExpired:
        return CommitFacts(), f"git did not answer within {GIT_DEADLINE_S} s"
    except subprocess.CalledProcessError as error:
        return CommitFacts(), str(error.stderr).strip().removeprefix("fatal: ") or "git failed"
    return CommitFacts(commit, branch, message.strip() or None, author.strip() or None), ""


def _branch(folder: Path) -> str | None:
    """Return the branch checked out, or the only one whose tip a detached head is."""
    try:
        return _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    except subprocess.CalledProcessError:
        refs = _git(folder, "for-each-ref", "--points-at", "HEAD", "--format=%(refname)", *_HEADS)
    names = {_short(ref) for ref in refs.splitlines()} - {"HEAD"}
    return names.pop() if len(names) == 1 else None


def _short(ref: str) -> str:
    for prefix in _HEADS:
        ref = ref.removeprefix(prefix)
    return ref


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=GIT_DEADLINE_S,
    )
    return done.stdout.strip()
