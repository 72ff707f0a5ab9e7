"""The statements of the queue, one module a verb, under the one name that callers use.

All SQL on `jobs`, `jobs_done`, `job_attempts`, `lane_tags` and `consumers` is in this package.
Every function takes the caller's transaction and never commits. Times are the database's own, of
the statement and not of the transaction, so that a lease given late in a long transaction is whole.
"""

from storyshelf.queue.store.cancel import cancel_build_jobs, cancel_jobs
from storyshelf.queue.store.claim import claim
from storyshelf.queue.store.consumers import (
    Beat,
    Consumer,
    ConsumerState,
    LiveConsumer,
    beat,
    live_consumers,
    mark_consumer,
    register_consumer,
    remove_consumer,
    remove_silent_consumers,
)
from storyshelf.queue.store.enqueue import enqueue
from storyshelf.queue.store.expire import end_overdue, overdue_jobs, requeue_expired
from storyshelf.queue.store.reads import Attempt, LiveJob, attempts_of, is_live, live_jobs
from storyshelf.queue.store.renew import Standing, check, renew, renew_for_note, renew_for_write
from storyshelf.queue.store.rows import SettledJob
from storyshelf.queue.store.settle import settle, settled_before
from storyshelf.queue.store.unserved import end_waiting, unserved_lanes

__all__ = [
    "Attempt",
    "Beat",
    "Consumer",
    "ConsumerState",
    "LiveConsumer",
    "LiveJob",
    "SettledJob",
    "Standing",
    "attempts_of",
    "beat",
    "cancel_build_jobs",
    "cancel_jobs",
    "check",
    "claim",
    "end_overdue",
    "end_waiting",
    "enqueue",
    "is_live",
    "live_consumers",
    "live_jobs",
    "mark_consumer",
    "overdue_jobs",
    "register_consumer",
    "remove_consumer",
    "remove_silent_consumers",
    "renew",
    "renew_for_note",
    "renew_for_write",
    "requeue_expired",
    "settle",
    "settled_before",
    "unserved_lanes",
]
