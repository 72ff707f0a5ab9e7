"""Lend a child that serves a bundle: wait for it, check it, lay the bundle's files, open it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from consumer.environment import Environment, EnvironmentMovedError, environment_of
from consumer.messages import BundledFile as ServedFile
from consumer.outlet.outlet import OpensOutlet, no_outlet
from consumer.supervisor import Bundle, Child, Supervisor
from storyshelf.builds.build import Build
from storyshelf.bundle.manifest import BundledFile
from storyshelf.clock import Clock
from storyshelf.ids import BlobKey

TOUCH_EVERY_S = 5.0  # while a child is waited for: that others work here is progress, for a while
LONGEST_WAIT_S = 600.0  # then the lease is left to run out, and another consumer has its turn
READABLE = 0o644

T = TypeVar("T")


class PlacesBlobs(Protocol):
    """What laying a bundle needs of the blob storage."""

    async def place(self, key: BlobKey, target: Path) -> None:
        """Make the content readable as a file at `target`."""
        ...


class Lender:
    """Lends children with a build's bundle open in them."""

    def __init__(
        self,
        supervisor: Supervisor,
        blobs: PlacesBlobs,
        clock: Clock,
        environment: Environment,
        outlet_of: OpensOutlet = no_outlet,
    ) -> None:
        self._supervisor = supervisor
        self._blobs = blobs
        self._clock = clock
        self._environment = environment
        self._outlet_of = outlet_of

    @asynccontextmanager
    async def child(
        self, build: Build, files: Sequence[BundledFile], touch: Callable[[], None]
    ) -> AsyncIterator[Child]:
        """Lend a child of the build's project that serves the build's bundle.

        Raises ChildDiedError, RequestFailedError, MissingBlobError, EnvironmentMovedError.
        """
        async with AsyncExitStack() as lent:  # whoever enters it, it is left here
            lending = lent.enter_async_context(self._supervisor.child(build.project_id))
            child = await self._touching(lending, touch)
            self._require_same_environment(child)
            await self._touching(self._lay(child, files), touch)
            served = tuple(ServedFile(file.path, file.sha256) for file in files)
            outlet = await lent.enter_async_context(self._outlet_of(build.project_id, build.id))
            await child.open(Bundle(f"b{build.id}.localhost", child.cell.bundle, served, outlet))
            touch()
            yield child

    def _require_same_environment(self, child: Child) -> None:
        found = environment_of(child.facts)
        if found.id != self._environment.id:
            raise EnvironmentMovedError(self._environment, found)

    async def _lay(self, child: Child, files: Sequence[BundledFile]) -> None:
        """Lay what is not there yet: a project's builds share most of their files."""
        folder = child.cell.bundle
        here = set(await asyncio.to_thread(lambda: [path.name for path in folder.iterdir()]))
        for key in {file.sha256 for file in files} - here:
            arriving = folder / f"{key}.new"
            await asyncio.to_thread(arriving.unlink, missing_ok=True)  # of a lay that was cut off
            await self._blobs.place(key, arriving)
            await asyncio.to_thread(_finish, arriving, folder / key)

    async def _touching(self, doing: Awaitable[T], touch: Callable[[], None]) -> T:
        task = asyncio.ensure_future(doing)
        done = asyncio.Event()
        task.add_done_callback(lambda _: done.set())
        give_up_at = self._clock.monotonic() + LONGEST_WAIT_S
        try:
            while not await self._clock.wait_for(done, TOUCH_EVERY_S):
                if self._clock.monotonic() < give_up_at:
                    touch()
            return await task
        finally:
            task.cancel()
            await asyncio.wait({task})


def _finish(arriving: Path, target: Path) -> None:
    arriving.chmod(READABLE)
    arriving.rename(target)
