"""Children and who may use them: one project each, replaced when they die or have served another.

A child renders hostile pages: whatever it says or does ends in an answer of `consumer.messages` or
in a `ChildDiedError` that names the story in flight, within the deadline of the request.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from consumer.child_handle import STOPPED, Child
from consumer.child_process import CHILD_PROGRAM, start_child
from consumer.death import Cause, ChildDiedError, Death
from consumer.isolation import Form, Isolation
from consumer.requests import Bundle, CaptureRequest, Limits, RequestFailedError
from consumer.seats import Seat, Seats, SupervisorClosedError
from storyshelf.clock import Clock
from storyshelf.ids import ProjectId

__all__ = [
    "Bundle",
    "CaptureRequest",
    "Cause",
    "Child",
    "ChildDiedError",
    "Death",
    "Limits",
    "RequestFailedError",
    "Supervisor",
    "SupervisorClosedError",
]

log = structlog.get_logger()


class Supervisor:
    """Gives out children; their tasks belong to `group` and end at `close`."""

    def __init__(
        self,
        group: asyncio.TaskGroup,
        clock: Clock,
        isolation: Isolation,
        limits: Limits,
        program: Sequence[str] = CHILD_PROGRAM,
    ) -> None:
        self._group = group
        self._clock = clock
        self._isolation = isolation
        self._limits = limits
        self._program = tuple(program)
        self._seats = Seats(limits.slots, isolation.form)

    @asynccontextmanager
    async def child(self, project_id: ProjectId) -> AsyncIterator[Child]:
        """Lend a child of this project; wait, first come first served, until there is room.

        A child that serves the project already is lent again, else an empty seat gets one.
        A child that died or is worn out is replaced here. One that dies while it is lent raises
        ChildDiedError in whatever is asked of it: leave the block, the next one gets another.
        """
        seat = await self._seats.take(project_id)
        try:
            yield await self._seated(seat, project_id)
        finally:
            await self._leave(seat)

    async def close(self) -> None:
        """Stop all children, lent ones too; nothing is given out afterwards."""
        self._seats.close()
        async with asyncio.TaskGroup() as stopping:
            for seat in self._seats.all:
                if seat.held_by is not None and seat.child is not None:
                    seat.child.condemn(STOPPED)
                stopping.create_task(self._stop(seat))

    async def _seated(self, seat: Seat, project_id: ProjectId) -> Child:
        if self._isolation.form is Form.WEAK:
            await self._stop_others(project_id)
        async with seat.busy:
            child = seat.child
            if child is not None and child.project_id == project_id and child.is_usable:
                return child
            await _empty(seat)
            return await self._start(seat, project_id)

    async def _stop_others(self, project_id: ProjectId) -> None:
        for seat in self._seats.all:
            if seat.served not in (None, project_id):
                await self._stop(seat)

    async def _start(self, seat: Seat, project_id: ProjectId) -> Child:
        began = self._clock.monotonic()
        seat.served = project_id
        cell = await seat.room.enter_async_context(self._isolation.cell())
        process = await start_child(self._isolation, cell, self._program)
        seat.child = child = Child(project_id, cell, process, self._clock, self._limits)
        self._group.create_task(self._live(seat, child))
        self._seats.refuse_if_closed()
        await child.ready()
        log.info(
            "child.started",
            pid=child.pid,
            project=project_id,
            slot=seat.number,
            took_ms=round((self._clock.monotonic() - began) * 1000),
        )
        return child

    async def _live(self, seat: Seat, child: Child) -> None:
        """See the child through its life; clear up at once if nobody had it when it died.

        Its browser leads a session of its own, and may go on without it.
        """
        await child.run()
        async with seat.busy:
            if seat.child is not child or seat.held_by is not None:
                return
            try:
                await _empty(seat)
            except Exception:  # nobody asked for this child: nobody else may suffer
                log.exception("child.not_cleared", pid=child.pid, slot=seat.number)

    async def _leave(self, seat: Seat) -> None:
        try:
            if seat.child is None or not seat.child.is_usable:
                await self._stop(seat)
        finally:
            self._seats.leave(seat)

    async def _stop(self, seat: Seat) -> None:
        async with seat.busy:
            await _empty(seat)


async def _empty(seat: Seat) -> None:
    if seat.child is not None:
        await seat.child.close()
    seat.child = None
    room, seat.room = seat.room, AsyncExitStack()
    await room.aclose()
    seat.served = None
