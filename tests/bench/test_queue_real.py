"""A tiny run of each bench's real parts: processes, statements, counters."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.peers.lines import WARM_UP
from bench.queue_full import captured_builds, fill, queue_up
from bench.queue_ratios import wakes_ms
from bench.queue_rounds import as_it_is, claim_readings
from bench.queue_server import Server, flushes_per_s, running_server
from bench.queue_sides import OURS, SideEndedError, pair, started
from bench.scale_house import CONSUMERS, House, register, sweep
from bench.scale_page import pages_ms
from bench.soak import Course, soak
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.engine import Database
from tests.db.server import on_server

pytestmark = [pytest.mark.flow, pytest.mark.timeout(120)]


@contextmanager
def a_database(postgres: EmbeddedPostgres, folder: Path, name: str) -> Iterator[tuple[Server, str]]:
    server = Server(postgres, folder)
    try:
        yield server, server.database(name)
    finally:
        on_server(postgres.admin_url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def test_our_side_drains_what_it_enqueues(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with (
        a_database(postgres_server, tmp_path, "ours") as (server, url),
        pair(OURS, url, tmp_path) as ours,
    ):
        ours.worker.ask("enqueue", jobs=50)
        assert ours.worker.ask("drain", jobs=50, concurrency=10)["seconds"] > 0
        ended = server.row_of("ours", "SELECT count(*) AS done FROM jobs_done")
        assert ended["done"] == 50


def test_our_side_is_woken_by_another_process(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with (
        a_database(postgres_server, tmp_path, "ours") as (_, url),
        pair(OURS, url, tmp_path) as ours,
    ):
        ours.worker.ask("work", concurrency=10)
        moments = ours.sender.ask("send", times=3, every_s=0.3)["moments"]
        waked = wakes_ms(moments, ours.worker.ask("rest")["started"])
        assert 0 < waked["wake_p50_ms"] < 10_000


def test_a_drain_costs_transactions_and_wal(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with (
        a_database(postgres_server, tmp_path, "ours") as (server, url),
        pair(OURS, url, tmp_path) as ours,
    ):
        before = server.counters("ours")
        ours.worker.ask("enqueue", jobs=20)
        ours.worker.ask("claim", times=2, size=10)
        spent = server.counters("ours").since(before)
        assert spent.transactions >= 5
        assert spent.wal_bytes > 20 * 100


def test_a_process_that_ends_says_why(tmp_path: Path) -> None:
    with started(OURS, tmp_path) as side, pytest.raises(SideEndedError, match="KeyError"):
        side.ask("no such deed")


def test_a_claim_finds_its_way_through_a_filled_table(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with (
        a_database(postgres_server, tmp_path, "ours") as (server, url),
        pair(OURS, url, tmp_path) as ours,
    ):
        fill(url, finished=500, queued=400)
        ours.worker.ask("claim", times=5, size=10)
        left = server.row_of("ours", "SELECT count(*) AS queued FROM jobs")
        assert left["queued"] == 350


def test_a_short_soak_loses_nothing(postgres_server: EmbeddedPostgres, tmp_path: Path) -> None:
    with a_database(postgres_server, tmp_path, "spare") as (server, _):
        try:
            seen, ended = soak(server, Course(lasts_s=3, jobs_per_s=100, edge_s=1, every_s=0.2))
        finally:
            on_server(postgres_server.admin_url, "DROP DATABASE IF EXISTS ours_soak WITH (FORCE)")
        assert ended["fed"] == ended["ended"] > 100
        assert ended["cancelled"] > 0
        assert ended["retried"] > 0
        assert len(seen.series["memory_mb"]) > 2


def test_the_server_tells_how_long_a_claim_took_it() -> None:
    with running_server() as server, pair(OURS, server.database("ours"), server.folder) as ours:
        ours.worker.ask("enqueue", jobs=60)
        read = claim_readings(server, ours, 5, as_it_is)
        assert read["claim_ms"] == pytest.approx(read["claim_1_ms"] + read["claim_10_ms"])
        assert 0 < read["claim_plan_ms"] < read["claim_10_ms"] < 1_000


def test_a_flush_that_is_made_slow_holds_every_commit_for_that_long() -> None:
    with running_server() as server:
        server.slow_flushes(2)
        assert flushes_per_s(server.database("disk")) < 500


async def test_every_consumer_of_a_full_house_fills_its_slots(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with a_database(postgres_server, tmp_path, "ours") as (server, url):
        queue_up(url, 1_000)
        db = Database(url)
        await register(db)
        took_ms = await sweep(db)
        await db.close()
        assert len(took_ms) == CONSUMERS
        ended = server.row_of("ours", "SELECT count(DISTINCT consumer_id) AS by FROM jobs_done")
        assert ended["by"] == CONSUMERS


async def test_the_operations_page_answers_a_full_house(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with a_database(postgres_server, tmp_path, "ours") as (_, url):
        captured_builds(url, builds=20)
        queue_up(url, 500, of_a_build=25)
        house = House("ours", Database(url))
        await register(house.db)
        took = await pages_ms([house], tmp_path, times=2)
        await house.db.close()
        assert len(took["ours"]) == 2


@pytest.mark.parametrize("way", ["line", "pool"])
def test_our_side_enqueues_one_by_one_in_either_way(
    postgres_server: EmbeddedPostgres, tmp_path: Path, way: str
) -> None:
    with (
        a_database(postgres_server, tmp_path, "ours") as (server, url),
        pair(OURS, url, tmp_path) as ours,
    ):
        ours.sender.ask("enqueue_one_by_one", jobs=5, way=way)
        queued = server.row_of("ours", "SELECT count(*) AS queued FROM jobs")["queued"]
        assert queued == WARM_UP + 5
