"""Who may have a child now: first come first served; one project at a time if a uid is shared."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from consumer.child_handle import Child
from consumer.isolation import Form
from storyshelf.errors import StoryshelfError
from storyshelf.ids import ProjectId


class SupervisorClosedError(StoryshelfError):
    """The consumer is stopping; no child is given out any more."""

    def __init__(self) -> None:
        super().__init__("the consumer is stopping", next_step="The job goes to another consumer.")


@dataclass(slots=True, eq=False)
class Seat:
    """Room for one child: at most one lives here, at most one job uses it."""

    number: int
    held_by: ProjectId | None = None
    served: ProjectId | None = None  # whose child still lives here
    child: Child | None = None
    room: AsyncExitStack = field(default_factory=AsyncExitStack)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)  # while a child moves in or out


class Seats:
    """The seats of one consumer. Only `take` waits; nothing else can be interrupted half-way."""

    def __init__(self, count: int, form: Form) -> None:
        self.all = tuple(Seat(number) for number in range(count))
        self._form = form
        self._waiting: deque[asyncio.Event] = deque()
        self._closed = False

    async def take(self, project_id: ProjectId) -> Seat:
        """Wait for a seat, the one where least has to be replaced."""
        turn = asyncio.Event()
        self._waiting.append(turn)
        try:
            while (seat := self._free_for(turn, project_id)) is None:
                turn.clear()
                await turn.wait()
        finally:
            self._waiting.remove(turn)
            self._wake()
        seat.held_by = project_id
        return seat

    def leave(self, seat: Seat) -> None:
        """Give the seat to the next."""
        seat.held_by = None
        self._wake()

    def close(self) -> None:
        """Send away all who wait and all who come."""
        self._closed = True
        for turn in self._waiting:
            turn.set()

    def refuse_if_closed(self) -> None:
        """Raise SupervisorClosedError once `close` was called."""
        if self._closed:
            raise SupervisorClosedError

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].set()

    def _free_for(self, turn: asyncio.Event, project_id: ProjectId) -> Seat | None:
        self.refuse_if_closed()
        if self._waiting[0] is not turn or not self._may_enter(project_id):
            return None
        free = [seat for seat in self.all if seat.held_by is None]
        return min(free, key=_replaced_for(project_id), default=None)

    def _may_enter(self, project_id: ProjectId) -> bool:
        if self._form is Form.STRONG:
            return True
        return all(seat.held_by in (None, project_id) for seat in self.all)


def _replaced_for(project_id: ProjectId) -> Callable[[Seat], tuple[bool, bool]]:
    return lambda seat: (seat.served != project_id, seat.served is not None)
