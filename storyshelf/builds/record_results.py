"""Write what a capture found, in the transaction that proves the lease."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storyshelf.builds import shard_store, store
from storyshelf.builds.build import Build
from storyshelf.builds.jobs import ShardPayload
from storyshelf.bundle.manifest import BundledFile
from storyshelf.db.engine import Tx
from storyshelf.ids import BlobKey, SnapshotKey
from storyshelf.snapshots import dependence_store, steadiness_store
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.decision import accepted_by
from storyshelf.snapshots.snapshot import OrderDependence, PlannedSnapshot, SnapshotResult
from storyshelf.storage import store as blob_rows


@dataclass(frozen=True, slots=True)
class ShardWork:
    """What a capture job has to do: the build, its bundle, and the snapshots still planned."""

    build: Build
    payload: ShardPayload
    files: Sequence[BundledFile]
    snapshots: Sequence[PlannedSnapshot]


async def read_work(tx: Tx, payload: ShardPayload) -> ShardWork:
    """Read a shard's work; a retried attempt sees only what is missing."""
    build = await store.by_id(tx, payload.build_id)
    starts = await steadiness_store.starts(tx, build.project_id)
    planned = await snapshots.planned_of_shard(tx, payload.shard_id)
    return ShardWork(
        build=build,
        payload=payload,
        files=await store.files_of(tx, build.id),
        snapshots=[replace(one, level=starts.get(one.key, one.level)) for one in planned],
    )


async def record(tx: Tx, work: ShardWork, results: Sequence[SnapshotResult]) -> None:
    """Write results whose blobs are synced; repeated or late ones change nothing."""
    if not results:
        return
    await shard_store.count_round(tx, work.payload.shard_id, 0)  # shards before snapshots
    await blob_rows.remember(tx, work.build.project_id, _blobs_of(results))
    levels = {result.id: result.level for result in results if result.level is not None}
    await steadiness_store.remember(tx, work.build.project_id, levels)
    await dependence_store.note(tx, work.build.project_id, _dependences_of(work, results))
    await snapshots.write_results(tx, results, accepted_by(work.build.rule))


def _dependences_of(
    work: ShardWork, results: Sequence[SnapshotResult]
) -> dict[SnapshotKey, OrderDependence]:
    keys = {snapshot.id: snapshot.key for snapshot in work.snapshots}
    found = ((keys[result.id], result.order_dependence) for result in results)
    return {key: dependence for key, dependence in found if dependence is not None}


def _blobs_of(results: Sequence[SnapshotResult]) -> dict[BlobKey, int]:
    pictures = [picture for result in results for picture in (result.picture, *result.frames)]
    masks = [result.mask for result in results]
    return {blob.key: blob.size_bytes for blob in (*pictures, *masks) if blob is not None}
