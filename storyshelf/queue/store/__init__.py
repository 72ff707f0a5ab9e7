"""The statements of the queue, one module a verb, under the one name that callers use.

All SQL on `jobs`, `jobs_done`, `job_attempts`, `lane_tags`, `running_caps` and `consumers` is in
this package. Every function takes the caller's transaction and never commits, or a line where it
says so. Times are the database's own, of the statement and not of the transaction, so that a lease
given late in a long transaction is whole.
"""

from storyshelf.queue.store.age import promote_old
from storyshelf.queue.store.bloat import Bloat, OldTransaction, bloat
from storyshelf.queue.store.cancel import cancel_build_jobs, cancel_jobs
from storyshelf.queue.store.caps import let_in_parked, set_running_cap
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
)
from storyshelf.queue.store.depths import LaneLoad, lane_loads
from storyshelf.queue.store.enqueue import enqueue
from storyshelf.queue.store.expire import alike, end_overdue, overdue_jobs, requeue_expired
from storyshelf.queue.store.forget import forget_ended
from storyshelf.queue.store.lane_tags import forget_lanes
from storyshelf.queue.store.lists import (
    FailedJob,
    LaneTurn,
    ProjectTurn,
    UnfinishedJob,
    deferred_jobs,
    failed_jobs,
    first_of_lanes,
    parked_jobs,
    queued_jobs,
    running_jobs,
)
from storyshelf.queue.store.lock_consumer import lock_consumer
from storyshelf.queue.store.one_job import EndedRow, KnownJob, ended_job, known_job
from storyshelf.queue.store.reads import Attempt, LiveJob, attempts_of, is_live, live_jobs
from storyshelf.queue.store.release import request_release
from storyshelf.queue.store.remove import (
    has_build_jobs,
    remove_build_jobs,
    remove_ended_jobs,
    remove_project_jobs,
)
from storyshelf.queue.store.renew import Standing, check, renew, renew_for_note, renew_for_write
from storyshelf.queue.store.rows import SettledJob
from storyshelf.queue.store.settle import settle, settled_before
from storyshelf.queue.store.unserved import Unserved, end_waiting, offers, unserved

__all__ = [
    "Attempt",
    "Beat",
    "Bloat",
    "Consumer",
    "ConsumerState",
    "EndedRow",
    "FailedJob",
    "KnownJob",
    "LaneLoad",
    "LaneTurn",
    "LiveConsumer",
    "LiveJob",
    "OldTransaction",
    "ProjectTurn",
    "SettledJob",
    "Standing",
    "UnfinishedJob",
    "Unserved",
    "alike",
    "attempts_of",
    "beat",
    "bloat",
    "cancel_build_jobs",
    "cancel_jobs",
    "check",
    "claim",
    "deferred_jobs",
    "end_overdue",
    "end_waiting",
    "ended_job",
    "enqueue",
    "failed_jobs",
    "first_of_lanes",
    "forget_ended",
    "forget_lanes",
    "has_build_jobs",
    "is_live",
    "known_job",
    "lane_loads",
    "let_in_parked",
    "live_consumers",
    "live_jobs",
    "lock_consumer",
    "mark_consumer",
    "offers",
    "overdue_jobs",
    "parked_jobs",
    "promote_old",
    "queued_jobs",
    "register_consumer",
    "remove_build_jobs",
    "remove_consumer",
    "remove_ended_jobs",
    "remove_project_jobs",
    "renew",
    "renew_for_note",
    "renew_for_write",
    "request_release",
    "requeue_expired",
    "running_jobs",
    "set_running_cap",
    "settle",
    "settled_before",
    "unserved",
]
