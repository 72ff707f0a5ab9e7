"""The leader's office in one process: what a leader does is done while this process leads."""

import asyncio
from dataclasses import dataclass

from storyshelf.operations.leader import Leader
from storyshelf.operations.periodic import Scheduler


@dataclass(frozen=True, slots=True)
class Office:
    """A process has one at most; one that may not lead has none."""

    leader: Leader
    scheduler: Scheduler

    async def run_forever(self) -> None:
        """Lead whenever the lead is free, until cancelled; then resign."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.leader.run_forever())
            group.create_task(self.scheduler.run_forever())
