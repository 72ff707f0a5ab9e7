"""A consumer worked by hand: what processes do to a build, a step a call, without a browser."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from itertools import count
from typing import Any

from PIL import Image

from storyshelf.builds import intake, moving, plan_build, record_results, shard_store, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.jobs import parse_capture, parse_finalise
from storyshelf.bundle.index import Story, parse_index
from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.bundle.parameters import ReadParameters, parse_parameters
from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey, ConsumerId, EnvironmentId, StoryId
from storyshelf.operations.kinds import every_kind
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.queue import store as queue
from storyshelf.queue.job import Completed, Ending, Lease, Outcome
from storyshelf.queue.job_kind import JobKind, JobKinds, Settled
from storyshelf.snapshots.snapshot import (
    CaptureError,
    Diff,
    Picture,
    Pixels,
    PlannedSnapshot,
    SnapshotResult,
    Verdict,
)
from storyshelf.storage.blobs import Blobs, key_of

ENVIRONMENT = EnvironmentId("test")
CAPTURE_LANE = f"capture@{ENVIRONMENT}"
CONSUMER = ConsumerId("by hand")
LEASE = timedelta(seconds=60)
Look = Mapping[str, str]  # story id -> what its picture shows
SIZE_PX = (12, 8)


@dataclass
class Hand:
    """Drives builds of one project through the product's own use cases."""

    db: Database
    blobs: Blobs
    project: Project
    kinds: JobKinds = field(default_factory=lambda: JobKinds(every_kind()))
    serial: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    async def open(
        self,
        stories: Sequence[str],
        branch: str = "main",
        message: str | None = None,
        author: str | None = None,
        pull_request: int | None = None,
    ) -> Build:
        files = await self.files_of(stories)
        new = store.NewBuild(
            idempotency_key=f"key-{self.serial():04}",
            branch=branch,
            commit="c0ffee",
            message=message,
            author=author,
            pull_request=pull_request,
        )
        opened = await intake.open_build(self.db, self.project, new, Manifest(tuple(files)))
        return opened.build

    async def files_of(self, stories: Sequence[str]) -> Sequence[BundledFile]:
        contents = {"iframe.html": b"<html></html>", "index.json": index_of(stories)}
        return [BundledFile(p, key_of(c), len(c)) for p, c in sorted(contents.items())]

    async def send(self, build: Build, stories: Sequence[str]) -> None:
        for content in (b"<html></html>", index_of(stories)):
            await intake.receive_file(self.db, self.blobs, build, key_of(content), chunks(content))

    async def upload(self, stories: Sequence[str], branch: str = "main") -> Build:
        build = await self.open(stories, branch)
        await self.send(build, stories)
        return await intake.seal(self.db, self.blobs, build)

    async def cancel(self, build: Build) -> None:
        await cancel_build(self.db, self.kinds, build.id, Cancel("Ada", "not needed"))

    async def claim(self, lane: str) -> Lease:
        async with self.db.transaction() as tx:
            claimed = await queue.claim(tx, CONSUMER, {lane: 1}, LEASE)
        (lease,) = claimed.leases
        return lease

    async def settle(self, lease: Lease, ending: Ending, parsed: Any = None) -> None:
        """Settle as the runner does: the fenced move, then `apply` or `ended`, in one commit."""
        async with self.db.transaction() as tx:
            (settled,) = await queue.settle(tx, [(lease, ending)])
            if settled.outcome is Outcome.COMPLETED:
                assert isinstance(ending, Completed)
                apply = self.kind(lease.kind).apply
                if apply is not None:
                    await apply(tx, [Settled(lease, parsed, ending.result)])
            elif not settled.goes_back:
                await self.kinds.ended(tx, [settled.job], settled.outcome, settled.error)

    def kind(self, name: str) -> JobKind:
        found = self.kinds.find(name)
        assert found is not None
        return found

    async def plan(
        self,
        build: Build,
        stories: Sequence[str],
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        shard_cost_ms: int = 60_000,
    ) -> None:
        lease = await self.claim("plan")
        made = await self.planned(build, stories, parameters, shard_cost_ms=shard_cost_ms)
        await self.settle(lease, Completed(made))

    async def planned(
        self,
        build: Build,
        stories: Sequence[str],
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        shard_cost_ms: int = 60_000,
    ) -> plan_build.Plan:
        """Do what the handler of a plan job does, up to its result."""
        async with self.db.transaction() as tx:
            fresh = await store.by_id(tx, build.id)
            await moving.move(tx, fresh, BuildState.PLANNING)
            around = await plan_build.read_surroundings(
                tx, build.id, ENVIRONMENT, slots=1, shard_cost_ms=shard_cost_ms
            )
        listed = parse_index(index_of(stories), "index.json").stories if stories else ()
        content = plan_build.BundleContent(listed, read_parameters(listed, parameters or {}))
        return plan_build.plan(content, around)

    async def capture(self, build: Build, look: Look) -> None:
        """Take every open shard of the build and record what its stories look like."""
        for _ in await self.open_shards(build):
            await self.capture_one(look)

    async def capture_one(self, look: Look) -> None:
        """Take one shard, record those of its stories that have a look, and end the job."""
        lease = await self.claim(CAPTURE_LANE)
        await self.shoot(lease, look)
        await self.settle(lease, Completed(None), parse_capture(lease.payload))

    async def shoot(self, lease: Lease, look: Look) -> None:
        """Record the claimed shard's stories that have a look."""
        work = await self.work_of(lease)
        shown = [one for one in work.snapshots if one.key.story_id in look]
        await self.record(lease, work, [await self.shot(one, look) for one in shown])

    async def work_of(self, lease: Lease) -> record_results.ShardWork:
        async with self.db.transaction() as tx:
            return await record_results.read_work(tx, parse_capture(lease.payload))

    async def record(
        self, lease: Lease, work: record_results.ShardWork, results: Sequence[SnapshotResult]
    ) -> None:
        async with self.db.transaction() as tx:
            await queue.renew_for_write(tx, lease, LEASE)
            await record_results.record(tx, work, results)

    async def open_shards(self, build: Build) -> Sequence[shard_store.Shard]:
        fresh = await self.fresh(build)
        async with self.db.transaction() as tx:
            shards = await shard_store.of_build(tx, build.id, fresh.planned_generation)
        return [shard for shard in shards if shard.state is shard_store.ShardState.OPEN]

    async def shot(self, snapshot: PlannedSnapshot, look: Look) -> SnapshotResult:
        """See `verdict_on`: a look of `!` fails, one that ends in `~` is within the tolerance."""
        shown = look[snapshot.key.story_id]
        png = png_of(shown)
        key = await self.blobs.put(png)
        picture = Picture(key, len(png), *SIZE_PX)
        verdict, pixels = verdict_on(shown, key, snapshot.baseline_image)
        return SnapshotResult(
            id=snapshot.id,
            verdict=verdict,
            reason="by hand",
            pixels=pixels,
            environment_id=ENVIRONMENT,
            duration_ms=100,
            picture=picture,
            diff=None if pixels is Pixels.EQUAL else a_diff(),
            error=CaptureError("render_failed", "boom") if shown == "!" else None,
        )

    async def finalise(self, build: Build) -> Build:
        await self.end_finalise(await self.claim("build"))
        return await self.fresh(build)

    async def end_finalise(self, lease: Lease) -> None:
        await self.settle(lease, Completed(None), parse_finalise(lease.payload))

    async def run(self, look: Look, branch: str = "main") -> Build:
        """Take a build from its upload to its verdict."""
        build = await self.upload(sorted(look), branch)
        await self.plan(build, sorted(look))
        await self.capture(build, look)
        return await self.finalise(build)

    async def fresh(self, build: Build) -> Build:
        async with self.db.transaction() as tx:
            return await store.by_id(tx, build.id)


async def a_hand(db: Database, blobs: Blobs) -> Hand:
    async with db.transaction() as tx:
        project = await projects.add(tx, "shop", "Shop", "main")
    return Hand(db, blobs, project)


def verdict_on(shown: str, key: BlobKey, baseline: BlobKey | None) -> tuple[Verdict, Pixels]:
    if shown == "!":
        return Verdict.ERRORED, Pixels.DIFFERENT
    if baseline is None:
        return Verdict.ADDED, Pixels.DIFFERENT
    if key == baseline:
        return Verdict.UNCHANGED, Pixels.EQUAL
    is_near = shown.endswith("~")
    return (Verdict.UNCHANGED if is_near else Verdict.CHANGED), Pixels.DIFFERENT


def a_diff() -> Diff:
    return Diff(3, 2, ((1, 2, 3, 4),), "yiq-7", "numpy", "1", SIZE_PX, SIZE_PX, 1, 2)


@lru_cache
def png_of(shown: str) -> bytes:
    """Return a small picture in a colour of its own; equal looks, equal bytes."""
    red, green, blue = sha256(shown.encode()).digest()[:3]
    content = BytesIO()
    Image.new("RGB", SIZE_PX, (red, green, blue)).save(content, "PNG")
    return content.getvalue()


def index_of(stories: Sequence[str]) -> bytes:
    entries = {
        story: {"id": story, "type": "story", "title": story, "name": story, "importPath": "./a.js"}
        for story in stories
    }
    return json.dumps({"v": 5, "entries": entries}).encode()


def read_parameters(
    stories: Sequence[Story], parameters: Mapping[str, Mapping[str, Any]]
) -> Mapping[StoryId, ReadParameters]:
    return {s.story_id: parse_parameters(parameters.get(s.story_id), None) for s in stories}


async def chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content
