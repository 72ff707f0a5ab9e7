"""What follows when the children of an attempt keep dying."""

from datetime import timedelta

from consumer.death import ChildDiedError
from storyshelf.queue.job import Crashed, Failed, Lease, Outcome

REST = timedelta(seconds=5)  # a machine that is short of memory may not be in a moment
PLAN_ATTEMPTS = 2  # a bundle is loaded by one child: two deaths are its doing, not chance


def after_deaths(died: ChildDiedError, deaths: int) -> Crashed:
    """Have the job tried again, if an attempt is left; else it ends as crashed."""
    return Crashed(REST, f"{deaths} browsers in a row died between stories; the last: {said(died)}")


def after_death_in_plan(died: ChildDiedError, lease: Lease) -> Crashed | Failed:
    """Have the bundle loaded once more, and then never again."""
    words = f"loading the bundle, {said(died)}"
    if lease.charged >= PLAN_ATTEMPTS:
        return Failed(words, Outcome.CRASHED)
    return Crashed(REST, words)


def said(died: ChildDiedError) -> str:
    """Return the cause with its sort in front, for people who can do something about it."""
    return f"the browser's process died ({died.how.in_words}): {died.detail}"
