"""What the queue's model is tried with."""

from datetime import timedelta

from hypothesis import strategies as st

from storyshelf.ids import BuildId, ProjectId
from storyshelf.queue.job import (
    Completed,
    Crashed,
    Ending,
    Failed,
    Priority,
    Requeued,
    Retried,
)
from storyshelf.queue.slots import Offer
from tests.queue.builders import ANN, BOB, a_job

AN_HOUR = timedelta(hours=1)
AT_ONCE = timedelta(0)
CAPTURES, BUILDS = "capture@x", "build"  # a lane where caps hold, and one where they do not
LANES = (CAPTURES, BUILDS)

endings: st.SearchStrategy[Ending] = st.sampled_from(
    [
        Completed(),
        Retried(AT_ONCE, "again"),
        Retried(AN_HOUR, "again, later"),
        Requeued("released"),
        Failed("no"),
        Crashed(AT_ONCE, "it died"),
    ]
)
new_jobs = st.builds(
    lambda lane, project, **rest: a_job(lane=lane, project_id=project, **rest),
    kind=st.sampled_from(["capture", "capture", "new"]),
    lane=st.sampled_from(LANES),
    project=st.sampled_from([None, ProjectId(1), ProjectId(2)]),
    priority=st.sampled_from([Priority.DEFAULT, Priority.INTERACTIVE, Priority.MAINTENANCE]),
    max_attempts=st.integers(1, 3),
    dedupe_key=st.sampled_from([None, None, "one", "other"]),
    delay=st.sampled_from([AT_ONCE, AT_ONCE, AN_HOUR]),
    build_id=st.sampled_from([None, BuildId(7)]),
    generation=st.integers(0, 1),
)
offers = st.builds(
    lambda free, kept: Offer(free, max(free - kept, 0)), st.integers(1, 4), st.integers(0, 2)
)
consumers = st.sampled_from([ANN, BOB])
handled = st.sampled_from([None, None, ("capture",)])  # kinds; a consumer that is old knows one
