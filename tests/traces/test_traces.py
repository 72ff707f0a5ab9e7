"""A trace from the wish to the recording, and what becomes of it."""

from datetime import timedelta
from pathlib import Path

import pytest

from storyshelf.builds.environment_store import know_environment
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, EnvironmentId, ProjectId, SnapshotId
from storyshelf.operations.delete_build import Deletion, delete_build
from storyshelf.queue import store as queue
from storyshelf.queue.job import Failed, MalformedPayloadError
from storyshelf.queue.store import Consumer
from storyshelf.storage import store as blob_rows
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import LocalBlobs
from storyshelf.traces.kinds import parse_trace
from storyshelf.traces.record import record_trace
from storyshelf.traces.store import recorded_in
from storyshelf.traces.trace import (
    NoSuchTraceError,
    NothingToTraceError,
    Recorded,
    TraceState,
    Unrecorded,
)
from tests.builds.facts import read, run
from tests.builds.hand import Hand, a_hand
from tests.traces.recordings import a_zip, end, id_of, known, recorded, wished

LOOK = {"a--one": "!", "b--two": "red"}
GONE = {"a--one": "!"}  # of LOOK, without the second


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def unused(hand: Hand) -> set[str]:
    """The blobs that a sweep would take if they were old."""
    async with hand.db.transaction() as tx:
        tomorrow = SystemClock().now() + timedelta(days=1)
        return set((await blob_rows.unused(tx, key_of(b"")[:0], tomorrow, 1_000)).sizes)  # type: ignore[arg-type]


async def test_a_trace_is_recorded_once_for_whoever_asks_and_belongs_to_its_project(
    hand: Hand,
) -> None:
    build = await hand.run(LOOK)
    lease = await wished(hand, build, "a--one")
    snapshot = await id_of(hand, build, "a--one")
    assert await record_trace(hand.db, build, snapshot, "Ben") is None  # it is being recorded
    waiting = await known(hand, snapshot)
    assert waiting is not None
    assert (waiting.state, waiting.wished_by, waiting.key) == (TraceState.WISHED, "Ada", None)
    content = a_zip()
    key = await hand.blobs.put(content)
    await end(hand, lease, Recorded(key, len(content), "The story failed."))
    kept = await known(hand, snapshot)
    assert kept is not None
    assert (kept.state, kept.key, kept.note) == (TraceState.RECORDED, key, "The story failed.")
    async with hand.db.transaction() as tx:
        assert await recorded_in(tx, hand.project.id, snapshot) == (key, len(content))
        assert await recorded_in(tx, ProjectId(hand.project.id + 1), snapshot) is None
        assert await blob_rows.belongs_to(tx, hand.project.id, key)
    assert (await read(hand, "SELECT action FROM audit_events WHERE actor = 'Ada'"))[-1] == {
        "action": "trace.record"
    }


async def test_a_recording_is_swept_only_once_its_build_is_gone(hand: Hand) -> None:
    build = await hand.run(LOOK)
    content = a_zip(b"of the build")
    snapshot = await recorded(hand, build, "a--one", content)
    assert key_of(content) not in await unused(hand)
    await delete_build(hand.db, hand.kinds, build, Deletion("Ada", "old"))
    assert await known(hand, snapshot) is None
    assert key_of(content) in await unused(hand)


async def test_one_that_is_asked_for_again_replaces_the_other(hand: Hand) -> None:
    build = await hand.run(LOOK)
    snapshot = await recorded(hand, build, "a--one", a_zip(b"first"))
    lease = await wished(hand, build, "a--one")
    async with hand.db.transaction() as tx:
        assert await recorded_in(tx, hand.project.id, snapshot) is None
    assert key_of(a_zip(b"first")) in await unused(hand)
    await end(hand, lease, Unrecorded("there is no trace"))
    failed = await known(hand, snapshot)
    assert failed is not None
    assert (failed.state, failed.note) == (TraceState.FAILED, "there is no trace")


async def test_a_job_that_ends_late_writes_nothing_over_another_s_wish(hand: Hand) -> None:
    build = await hand.run(LOOK)
    lease = await wished(hand, build, "a--one")
    snapshot = await id_of(hand, build, "a--one")
    await run(hand, "UPDATE traces SET job_id = job_id + 1")
    await end(hand, lease, Recorded(await hand.blobs.put(a_zip()), 9, ""))
    late = await known(hand, snapshot)
    assert late is not None
    assert late.state is TraceState.WISHED


async def test_a_job_that_fails_says_so_and_the_trace_can_be_asked_for_again(hand: Hand) -> None:
    build = await hand.run(LOOK)
    await hand.settle(await wished(hand, build, "a--one"), Failed("the disk is full"))
    snapshot = await id_of(hand, build, "a--one")
    failed = await known(hand, snapshot)
    assert failed is not None
    assert failed.note == "It could not be recorded: the disk is full"
    assert await record_trace(hand.db, build, snapshot, "Ben") is not None


async def test_what_has_no_story_is_not_recorded(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(GONE)
    removed = await id_of(hand, build, "b--two")
    with pytest.raises(NothingToTraceError, match="the snapshot is removed"):
        await record_trace(hand.db, build, removed, "Ada")
    with pytest.raises(NoSuchTraceError):
        await record_trace(hand.db, build, SnapshotId(1), "Ada")  # of the other build
    with pytest.raises(NoSuchTraceError):
        await record_trace(hand.db, build, SnapshotId(999), "Ada")


async def test_where_the_build_s_browser_is_gone_another_one_records(hand: Hand) -> None:
    build = await hand.run(LOOK)
    other = EnvironmentId("newer")
    lanes = {"plan": 1, f"capture@{other}": 1}
    consumer = Consumer(
        id=ConsumerId("newer"),
        host="here",
        pid=1,
        version="1",
        lanes=tuple(lanes),
        kinds=("plan", "capture", "trace"),
        environment_id=other,
        machine="here",
        process_started=1,
        slots=lanes,
    )
    async with hand.db.transaction() as tx:
        await know_environment(tx, other, {})
        await queue.register_consumer(tx, consumer)
    await record_trace(hand.db, build, await id_of(hand, build, "a--one"), "Ada")
    assert (await read(hand, "SELECT lane FROM jobs WHERE kind = 'trace'")) == [
        {"lane": f"capture@{other}"}
    ]


@pytest.mark.parametrize(
    "payload", [{}, {"snapshot_id": "1"}, {"snapshot_id": 0}, {"snapshot_id": True}]
)
def test_a_payload_that_names_no_snapshot_is_refused(payload: dict[str, object]) -> None:
    with pytest.raises(MalformedPayloadError):
        parse_trace(payload)
