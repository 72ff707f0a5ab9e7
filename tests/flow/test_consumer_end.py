"""However a consumer ends, or is asked to end: its work goes on elsewhere, and it does end."""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consumer.heartbeat import BEAT_EVERY_S
from consumer.launcher import EXIT_LEFT_BEHIND, LAST_RESORT_S
from consumer.processes import descendants, kill_all, wait_gone
from tests.flow.product import Product, Started, wait_for
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(200)]

LONG_LEASE_S = 120  # nobody may wait for its end here
GRACE_S = 6
SLACK_S = 4.0  # of a machine that other suites use


@pytest.fixture
def uploaded(product: Product, tmp_path: Path) -> int:
    product.serve()
    product.make_project("shop")
    return product.upload(write_tiny_storybook(tmp_path / "bundle", many_stories(4)), "c1")


@contextmanager
def standing_still(pids: Iterable[int]) -> Iterator[None]:
    """Have these processes neither work nor answer nor end for a while."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGCONT)


@contextmanager
def silent_database(product: Product) -> Iterator[None]:
    """Have the database neither answer nor take a connection for a while.

    Its parent stands still first: a pool that grows meanwhile would get a backend of its own.
    """
    rows = product.rows("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
    living = next(row["pid"] for row in rows if Path(f"/proc/{row['pid']}").exists())
    parent = int(Path(f"/proc/{living}/stat").read_text().rpartition(") ")[2].split()[1])
    with standing_still([parent]), standing_still(descendants(parent)):
        yield


def time_to_end_s(consumer: Started) -> float:
    began = time.monotonic()
    consumer.process.send_signal(signal.SIGTERM)
    consumer.process.wait(timeout=60)
    return time.monotonic() - began


def ask(product: Product, state: str) -> None:
    """Ask as the operations page does."""
    product.rows("UPDATE consumers SET state = $1", state)
    product.rows("SELECT pg_notify('storyshelf_queue', 'consumers')")


def test_jobs_of_a_killed_consumer_run_again_as_soon_as_another_boots_beside_it(
    product: Product, uploaded: int
) -> None:
    lease = {"STORYSHELF_LEASE_S": str(LONG_LEASE_S)}
    killed = product.consume_until("after_progress", "1", **lease)
    wait_for(lambda: killed.process.poll() is not None)
    began = time.monotonic()
    again = product.consume(**lease)
    assert product.wait_until_ended(uploaded) == "accepted"
    assert time.monotonic() - began < LONG_LEASE_S / 2
    assert "consumer.buried" in again.words
    lost = product.rows("SELECT consumer_id FROM job_attempts WHERE outcome = 'lost'")
    assert len(lost) == 1
    alive = product.rows("SELECT id, pid FROM consumers")
    assert [row["pid"] for row in alive] == [again.process.pid]


def test_a_living_sibling_keeps_what_it_has_when_another_boots(
    product: Product, uploaded: int
) -> None:
    first = product.consume()
    second = product.consume()
    assert product.wait_until_ended(uploaded) == "accepted"
    assert "consumer.buried" not in second.words
    alive = {row["pid"] for row in product.rows("SELECT pid FROM consumers")}
    assert alive == {first.process.pid, second.process.pid}


def test_what_the_operations_page_asks_is_heard_before_the_next_beat(
    product: Product, uploaded: int
) -> None:
    consumer = product.consume()
    product.wait_until_ended(uploaded)
    for state in ("quiet", "running", "stopping"):
        began = time.monotonic()
        ask(product, state)
        wait_for(lambda state=state: f"wish={state}" in consumer.words, consumer)  # type: ignore[misc]  # bound early
        assert time.monotonic() - began < BEAT_EVERY_S / 3
    assert wait_for(lambda: consumer.process.poll() is not None)
    assert consumer.process.returncode == 0, consumer.words
    assert product.rows("SELECT id FROM consumers") == []


def test_a_quiet_consumer_takes_work_again_when_it_is_asked_to(
    product: Product, uploaded: int, tmp_path: Path
) -> None:
    consumer = product.consume()
    product.wait_until_ended(uploaded)
    consumer.process.send_signal(signal.SIGTSTP)
    wait_for(lambda: product.rows("SELECT state FROM consumers") == [{"state": "quiet"}], consumer)
    second = product.upload(tmp_path / "bundle", "c2")
    assert product.state_of(second) == "queued"
    consumer.process.send_signal(signal.SIGCONT)
    assert product.wait_until_ended(second) == "passed"
    assert product.rows("SELECT state FROM consumers") == [{"state": "running"}]


def test_a_database_that_does_not_answer_cannot_hold_a_consumer_past_its_grace(
    product: Product, uploaded: int
) -> None:
    consumer = product.consume(STORYSHELF_STOP_GRACE_S=str(GRACE_S))
    below = descendants(consumer.process.pid)
    with silent_database(product):
        assert time_to_end_s(consumer) < GRACE_S + LAST_RESORT_S + SLACK_S
    assert consumer.process.returncode == EXIT_LEFT_BEHIND
    assert wait_gone(below, timeout_s=10) == frozenset()
    assert list((product.folder / "scratch").iterdir()) == []


def test_browsers_that_hang_cannot_hold_a_consumer_past_its_grace(
    product: Product, uploaded: int
) -> None:
    consumer = product.consume(STORYSHELF_STOP_GRACE_S=str(GRACE_S), STORYSHELF_LEASE_S="60")
    wait_for(lambda: product.rows("SELECT 1 FROM jobs WHERE kind = 'capture'"), consumer)
    below = wait_for(lambda: descendants(consumer.process.pid), consumer)
    with standing_still(below):
        assert time_to_end_s(consumer) < GRACE_S + LAST_RESORT_S + SLACK_S
    assert wait_gone(below, timeout_s=10) == frozenset()
    assert consumer.process.returncode == 0, consumer.words
    assert product.rows("SELECT id FROM jobs WHERE state = 'running'") == [], consumer.words


def test_after_a_stop_what_was_under_way_is_charged_to_nobody(
    product: Product, uploaded: int
) -> None:
    consumer = product.consume(STORYSHELF_STOP_GRACE_S="2", STORYSHELF_LEASE_S="60")
    wait_for(lambda: product.rows("SELECT 1 FROM jobs WHERE state = 'running'"), consumer)
    with standing_still(descendants(consumer.process.pid)):
        consumer.stop()
    waiting = product.rows("SELECT state, charged FROM jobs")
    assert waiting
    assert all(row["charged"] == 0 for row in waiting), consumer.words


def test_even_a_consumer_that_does_nothing_any_more_ends_when_it_is_stopped(
    product: Product, uploaded: int
) -> None:
    sleep = ("sleep", "60")  # in the only thread that hears of a stop
    hanging = product.consume_until("after_claim", "1", *sleep, STORYSHELF_STOP_GRACE_S="1")
    wait_for(lambda: product.rows("SELECT 1 FROM jobs WHERE state = 'running'"), hanging)
    below = descendants(hanging.process.pid)
    try:
        assert time_to_end_s(hanging) < 1 + LAST_RESORT_S + SLACK_S
    finally:
        kill_all(below)
    assert hanging.process.returncode == -signal.SIGALRM
