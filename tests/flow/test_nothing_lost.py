"""Whatever is killed, and wherever: the build ends right, each snapshot once, finalised once."""

import os
import signal
import sys
from pathlib import Path

import pytest

from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.queue.failpoint import Place
from tests.flow.product import Product, Started, wait_for
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(400)]

STORIES = 24
MANY_SHARDS = {"STORYSHELF_SHARD_COST_S": "8"}  # never captured: 1.2 s each, so four shards


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_tiny_storybook(tmp_path / "bundle", many_stories(STORIES))


@pytest.fixture
def running(product: Product) -> Product:
    product.settings = MANY_SHARDS
    product.serve()
    product.make_project("shop")
    return product


def assert_ended_right(product: Product, number: int) -> None:
    """The ledger: every story once with a picture, every shard closed once, one finalise job."""
    assert product.wait_until_ended(number) == "accepted"
    captured = product.rows(
        "SELECT s.story_id, count(*) AS times, bool_and(verdict = 'added') AS added,"
        " bool_and(image_key IN (SELECT key FROM blobs)) AS stored"
        " FROM snapshots s JOIN builds b ON b.id = build_id WHERE number = $1 GROUP BY 1",
        number,
    )
    assert len(captured) == STORIES
    assert all(row["times"] == 1 and row["added"] and row["stored"] for row in captured)
    shards = product.rows("SELECT state, closed_at FROM shards")
    assert {row["state"] for row in shards} == {"done"}
    ended = product.rows("SELECT kind, outcome, count(*) FROM jobs_done GROUP BY 1, 2")
    assert {(row["kind"], row["outcome"]): row["count"] for row in ended} == {
        ("plan", "completed"): 1,
        ("capture", "completed"): len(shards),
        ("finalise", "completed"): 1,
    }
    assert product.rows("SELECT id FROM jobs") == []
    assert product.rows("SELECT id FROM builds WHERE open_shards <> 0") == []


@pytest.mark.parametrize(
    ("place", "nth"),
    [
        (Place.AFTER_CLAIM, 1),  # the plan is claimed
        (Place.AFTER_CLAIM, 2),  # captures are claimed
        (Place.AFTER_BLOBS, 1),  # pictures are stored, no row names them
        (Place.AFTER_PROGRESS, 1),  # in the middle of a shard
        (Place.BEFORE_SETTLE, 2),  # all of a shard is written, it is not closed
        (Place.AFTER_SETTLE, 2),  # it is closed, nobody has read the answer
    ],
)
def test_a_consumer_killed_at_any_place_costs_time_only(
    running: Product, bundle: Path, place: Place, nth: int
) -> None:
    number = running.upload(bundle, "c1")
    dying = running.consume_until(place, str(nth))
    wait_for(lambda: dying.process.poll() == -signal.SIGKILL)
    running.consume()
    assert_ended_right(running, number)


def test_an_immediate_stop_of_postgres_before_a_settle_costs_time_only(
    running: Product, bundle: Path, durable_server: EmbeddedPostgres
) -> None:
    number = running.upload(bundle, "c1")
    crash = [sys.executable, "-m", "tests.flow.crash_database", str(durable_server.data_dir)]
    consumer = running.consume_until(Place.BEFORE_SETTLE, "2", *crash)
    assert_ended_right(running, number)
    assert consumer.stop() == 0


def test_a_child_killed_in_mid_story_is_replaced(running: Product, bundle: Path) -> None:
    number = running.upload(bundle, "c1")
    consumer = running.consume()
    wait_for(lambda: running.rows("SELECT 1 FROM snapshots WHERE captured_at IS NOT NULL"))
    for pid in children_of(consumer):
        os.kill(pid, signal.SIGKILL)
    assert_ended_right(running, number)
    assert "child.died" in consumer.words or "child.ended" in consumer.words


def test_two_consumers_share_a_build(running: Product, bundle: Path) -> None:
    first, second = running.consume(), running.consume()
    number = running.upload(bundle, "c1")
    assert_ended_right(running, number)
    workers = running.rows("SELECT DISTINCT consumer_id FROM job_attempts")
    assert len(workers) == 2
    assert first.stop() == second.stop() == 0


def test_a_stopped_consumer_gives_its_work_back_uncharged(running: Product, bundle: Path) -> None:
    number = running.upload(bundle, "c1")
    first = running.consume()
    wait_for(lambda: running.rows("SELECT 1 FROM snapshots WHERE captured_at IS NOT NULL"))
    assert first.stop() == 0
    running.consume()
    assert_ended_right(running, number)
    assert running.rows("SELECT 1 FROM job_attempts WHERE outcome IN ('lost', 'failed')") == []


def children_of(consumer: Started) -> list[int]:
    """The Python children that hold a browser each."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
            words = (entry / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == consumer.process.pid and b"consumer.child" in words:
            found.append(int(entry.name))
    assert found, "the consumer has children"
    return found
