"""When a command of a CI run does nothing and ends well: who has no token is not to blame."""

import fnmatch

from storyshelf.client.ci import CiRun
from storyshelf.client.saved import NoServerError

FORK = (
    "a pull request from a fork gets none of the repository's secrets, so there is no project "
    "token. Upload it from a run of the repository itself to have it checked."
)
LACKING = (
    "there is no project token in this run. Set STORYSHELF_PROJECT_TOKEN from the CI's secrets to "
    "have it checked; runs of bots such as Dependabot have secrets of their own."
)


def skip_for_lack(error: NoServerError, run: CiRun | None) -> str | None:
    """Return why a run without server or token is skipped; None: the error stays one.

    A person without a token has forgotten it. A run of a fork can have none, and one of a bot may
    have none. An address that is missing in a run of ours is a mistake in its configuration.
    """
    if run is None:
        return None
    if run.is_fork:
        return FORK
    return LACKING if error.is_about_token else None


def skip_for_branch(branch: str, glob: str | None) -> str | None:
    """Return why a branch that was to be skipped is; `*` in the glob matches slashes too."""
    if glob is None or not fnmatch.fnmatchcase(branch, glob):
        return None
    return f"branch {branch} is one of --skip {glob}"
