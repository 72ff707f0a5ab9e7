"""A trace of a story that failed: asked for once its build is over, recorded by a consumer."""

import asyncio
from pathlib import Path
from zipfile import ZipFile

import pytest

from storyshelf.builds import store as builds
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, SnapshotId
from storyshelf.traces.record import record_trace
from tests.flow.product import Product, wait_for
from tests.tiny_storybook import TinyStory, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]

SNAPSHOT = "SELECT id, build_id FROM snapshots"
TRACES = "SELECT blob_key FROM traces WHERE state = 'recorded'"


async def ask(product: Product, build_id: int, snapshot_id: int) -> None:
    db = Database(product.database_url)
    async with db.transaction() as tx:
        build = await builds.by_id(tx, BuildId(build_id))
    await record_trace(db, build, SnapshotId(snapshot_id), "a test")
    await db.close()


def test_a_consumer_records_what_was_asked_for(product: Product, tmp_path: Path) -> None:
    product.serve()
    product.make_project("shop")
    consumer = product.consume()
    stories = {"button--plain": TinyStory("<button>drawn by the story</button>")}
    product.publish(write_tiny_storybook(tmp_path / "book", stories), "c1")
    (snapshot,) = product.rows(SNAPSHOT)
    asyncio.run(ask(product, snapshot["build_id"], snapshot["id"]))
    (kept,) = wait_for(lambda: product.rows(TRACES), consumer)
    (file,) = product.folder.rglob(str(kept["blob_key"]))
    with ZipFile(file) as trace:
        assert b"drawn by the story" in trace.read("trace.trace")
        assert "trace.stacks" not in trace.namelist()
    assert product.state_of(1) == "accepted"  # as it was
