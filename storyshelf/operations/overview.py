"""How the service stands now: what waits, who works on what, who leads, and what is wrong.

One read for the page and the command line, in one transaction. None of it counts a backlog or
walks a history: it costs the same with a million jobs in the queue.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from storyshelf.db.engine import Tx
from storyshelf.operations import alarm_store, leader_store
from storyshelf.operations.alarm_store import Alarm
from storyshelf.operations.figures import KindFigures, figures, throughput
from storyshelf.operations.leader_store import Leading
from storyshelf.operations.metric_store import Ended
from storyshelf.queue import store as queue
from storyshelf.queue.store import LaneLoad, LiveConsumer, UnfinishedJob
from storyshelf.queue.store.bloat import OldTransaction, bloat
from storyshelf.queue.unserved import SILENT_FOR

MOST_RUNNING = 1_000  # more slots than anybody reads through
FIGURES_OF = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Overview:
    """What was read; of the jobs that run at most MOST_RUNNING."""

    loads: Sequence[LaneLoad]
    consumers: Sequence[LiveConsumer]
    running: Sequence[UnfinishedJob]
    alarms: Sequence[Alarm]
    leading: Leading | None
    kinds: Sequence[KindFigures]
    throughput: Sequence[Ended]
    oldest_transaction: OldTransaction | None


async def overview(tx: Tx) -> Overview:
    """Return how everything stands."""
    return Overview(
        loads=await queue.lane_loads(tx),
        consumers=await queue.live_consumers(tx, SILENT_FOR),
        running=await queue.running_jobs(tx, limit=MOST_RUNNING),
        alarms=await alarm_store.alarms(tx),
        leading=await leader_store.leading_now(tx),
        kinds=await figures(tx, FIGURES_OF),
        throughput=await throughput(tx),
        oldest_transaction=(await bloat(tx)).oldest,
    )
