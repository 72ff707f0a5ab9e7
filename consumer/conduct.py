"""What a consumer does with its slots, as signals and its own row ask of it."""

from collections.abc import Callable

import structlog

from storyshelf.queue.store import ConsumerState
from storyshelf.queue.store.consumers import NEXT_STATES

log = structlog.get_logger(__name__)

Obey = Callable[[ConsumerState], None]


class Conduct:
    """The state a consumer is in; whoever obeys is called with each new one, by signals too.

    Its row holds the state as well, where others write what they wish. So what it came to by itself
    is told once, and the row is believed from then on: otherwise every beat would undo a wish.
    """

    def __init__(self) -> None:
        self.state = ConsumerState.RUNNING
        self.untold: ConsumerState | None = None  # what the row does not say yet
        self._obeying: list[Obey] = []

    def obeyed_by(self, obey: Obey) -> None:
        """Have it called with each new state, and now with the one that was asked for before."""
        self._obeying.append(obey)
        if self.state is not ConsumerState.RUNNING:
            obey(self.state)

    def ask(self, wish: ConsumerState) -> None:
        """Take over what the process itself is asked for; harmless when asked again."""
        if wish in NEXT_STATES[self.state]:
            self.untold = wish
            self._move(wish)

    def hear(self, written: ConsumerState, told: ConsumerState | None) -> None:
        """Take what the row says since it was told that; what came in between is told next."""
        if self.untold is not told:
            return
        self.untold = None
        if written in NEXT_STATES[self.state]:
            self._move(written)
        elif written is not self.state:
            self.untold = self.state  # it cannot be granted, and the row must not pretend

    def _move(self, wish: ConsumerState) -> None:
        log.info("consumer.asked", was=self.state.value, wish=wish.value)
        self.state = wish
        for obey in self._obeying:
            obey(wish)
