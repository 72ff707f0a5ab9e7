"""Every kind of job there is, as server and consumers register them alike."""

from storyshelf.builds.kinds import build_kinds
from storyshelf.deliveries.kinds import deliver_kind
from storyshelf.operations.tidy_job import tidy_kind
from storyshelf.queue.job_kind import JobKind
from storyshelf.traces.kinds import trace_kind


def every_kind() -> tuple[JobKind, ...]:
    """Return the kinds without their handlers, which are the consumer's."""
    return (*build_kinds(), deliver_kind(), tidy_kind(), trace_kind())
