"""What is under way while a sweep is made, and sweeps that are disturbed or killed."""

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from storyshelf.builds import record_results
from storyshelf.builds.build import Build
from storyshelf.ids import BlobKey
from storyshelf.queue.job import Lease
from storyshelf.snapshots.snapshot import SnapshotResult
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local_sweep import Freed, LocalSweeper
from tests.builds.hand import index_of


class KilledError(Exception):
    """Stands for SIGKILL: nothing after it is done."""


@dataclass
class Upload:
    """An open build, and which of its files are still to be sent."""

    build: Build
    stories: list[str]
    missing: set[BlobKey]

    @property
    def contents(self) -> Mapping[BlobKey, bytes]:
        return {key_of(each): each for each in (b"<html></html>", index_of(self.stories))}


@dataclass
class Capturing:
    """A claimed shard whose pictures are stored, but not yet written down."""

    lease: Lease
    work: record_results.ShardWork
    results: list[SnapshotResult]


@dataclass
class Disturbed:
    """A storage that somebody does something to at each step of its sweep, as long as it lasts."""

    sweeper: LocalSweeper
    acts: Iterator[Callable[[], Coroutine[Any, Any, None]]]

    async def _pass(self) -> None:
        if act := next(self.acts, None):
            await act()

    async def end_unfinished(self, since: datetime) -> None:
        await self.sweeper.end_unfinished(since)
        await self._pass()

    async def remove_untouched(self, keys: Collection[BlobKey], since: datetime) -> Freed:
        await self._pass()
        freed = await self.sweeper.remove_untouched(keys, since)
        await self._pass()
        return freed

    async def untouched(self, since: datetime) -> AsyncIterator[Mapping[BlobKey, int]]:
        async for sizes in self.sweeper.untouched(since):
            await self._pass()
            yield sizes


class DiesBetweenLooks(LocalSweeper):
    """Is killed when a file lies aside, before it is looked at once more."""

    def _let_go(self, aside: Path, before_s: float) -> Freed:
        raise KilledError
