"""Ask a consumer to take no more work, to take some again, or to stop.

What is asked stands in its row, which it reads with its next beat; a hint makes that at once.
"""

from collections.abc import Mapping, Set
from enum import StrEnum

from storyshelf.audit import store as audit
from storyshelf.db.engine import Database, Tx
from storyshelf.errors import ConflictError, NotFoundError
from storyshelf.ids import ConsumerId
from storyshelf.queue import store as queue
from storyshelf.queue.store import ConsumerState
from storyshelf.queue.store.consumers import NEXT_STATES
from storyshelf.queue.unserved import SILENT_FOR


class Wish(StrEnum):
    """What a consumer can be asked, as it is typed and audited."""

    QUIET = "quiet"
    RESUME = "resume"
    STOP = "stop"


STATES: Mapping[Wish, ConsumerState] = {
    Wish.QUIET: ConsumerState.QUIET,
    Wish.RESUME: ConsumerState.RUNNING,
    Wish.STOP: ConsumerState.STOPPING,
}
# From where each may be asked for.
ASKED_FROM: Mapping[Wish, Set[ConsumerState]] = {
    wish: frozenset(state for state, following in NEXT_STATES.items() if wished in following)
    for wish, wished in STATES.items()
}
REFUSED_BY: Mapping[ConsumerState, str] = {
    ConsumerState.QUIET: "it takes no more work already",
    ConsumerState.RUNNING: "it takes work already",
    ConsumerState.STOPPING: "it is stopping",
}


class NoSuchConsumerError(NotFoundError):
    """No live consumer of that id."""

    def __init__(self, consumer_id: ConsumerId) -> None:
        seconds = round(SILENT_FOR.total_seconds())
        super().__init__(
            f"No such consumer has been heard of in the last {seconds} s",
            where=f"consumer {consumer_id}",
            next_step="The operations page and `storyshelf consumers` list those that are there.",
        )


class NotToBeAskedError(ConflictError):
    """A consumer that is in that state, or past it."""

    def __init__(self, consumer_id: ConsumerId, state: ConsumerState) -> None:
        super().__init__(
            f"The consumer cannot be asked that: {REFUSED_BY[state]}",
            where=f"consumer {consumer_id}",
            next_step="Reload the operations page to see what it does.",
        )


async def ask_consumer(db: Database, consumer_id: ConsumerId, wish: Wish, actor: str) -> None:
    """Ask that of the consumer, which does it as soon as it hears of it.

    Raises NoSuchConsumerError, NotToBeAskedError.
    """
    async with db.transaction() as tx:
        await _require(tx, consumer_id, wish)
        await queue.mark_consumer(tx, consumer_id, STATES[wish])
        detail = {"consumer": consumer_id}
        await audit.record(tx, audit.Event(actor, f"consumer.{wish}", detail=detail))
        tx.announce("consumers")


async def _require(tx: Tx, consumer_id: ConsumerId, wish: Wish) -> None:
    state = await queue.lock_consumer(tx, consumer_id, SILENT_FOR)
    if state is None:
        raise NoSuchConsumerError(consumer_id)
    if state not in ASKED_FROM[wish]:
        raise NotToBeAskedError(consumer_id, state)
