"""The statements of the queue, one module a verb, under the one name that callers use.

All SQL on `jobs`, `jobs_done`, `job_attempts` and `lane_tags` is in this package. Every function
takes the caller's transaction and never commits.
"""

from storyshelf.queue.store.cancel import cancel_build_jobs, cancel_jobs
from storyshelf.queue.store.enqueue import enqueue
from storyshelf.queue.store.reads import Attempt, LiveJob, attempts_of, is_live, live_jobs
from storyshelf.queue.store.renew import Standing, check, renew, renew_for_write

__all__ = [
    "Attempt",
    "LiveJob",
    "Standing",
    "attempts_of",
    "cancel_build_jobs",
    "cancel_jobs",
    "check",
    "enqueue",
    "is_live",
    "live_jobs",
    "renew",
    "renew_for_write",
]
