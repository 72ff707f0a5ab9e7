"""What Prometheus reads: of a server, of a consumer, and as the README lists it."""

import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from prometheus_client import REGISTRY
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from consumer.health import Figures, health_app, serve_health
from consumer.loopback import served
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.accumulator import Accumulator
from storyshelf.operations.alarm_store import raise_alarm
from storyshelf.operations.exposition import exposition, gauge
from storyshelf.operations.flush import Flush
from storyshelf.operations.leader_store import take_lead
from storyshelf.operations.process_metrics import ConsumerMetrics, Standing
from storyshelf.operations.rollup import roll_up
from storyshelf.operations.service_metrics import service_families, service_now
from storyshelf.queue import store as queue
from storyshelf.queue.job import AttemptEnded, Outcome, Priority
from storyshelf.queue.store import Consumer
from storyshelf.queue.tally import Tally
from storyshelf.server import create_app
from storyshelf.wiring import Parts
from tests.app import PUBLIC_URL, parts_on
from tests.fakes import FakeClock
from tests.queue.builders import ANN, a_job, enqueued
from tests.routes.world import a_world

README = (Path(__file__).parents[2] / "README.md").read_text()
TOKEN = "a token of the scraper"
ENDED = AttemptEnded("capture", "capture@x", Outcome.COMPLETED, 1, waited_ms=40, ran_ms=1_500)

Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(text: str) -> Values:
    """Every sample of a scrape, by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(values: Values, name: str, /, **labels: str) -> float:
    return values[f"storyshelf_{name}", frozenset(labels.items())]


def consumer_metrics(db: Database) -> ConsumerMetrics:
    """Of a consumer that has ended two attempts and runs three more."""
    accumulator = Accumulator(lambda: 0.0)
    accumulator.observe(ENDED)
    accumulator.observe(ENDED)
    return ConsumerMetrics(
        standing=Standing(
            is_hearing=lambda: True,
            tally=Tally(claims=7, empty_claims=4, found_by_hint=2, found_by_poll=1),
        ),
        accumulator=accumulator,
        flush=Flush(db, accumulator, FakeClock(), nonce=UUID(int=1)),
        slots={"plan": 1},
        running=lambda: 3,
    )


def encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), said.encode("latin-1")) for name, said in headers.items()]


async def scrape_consumer(db: Database, token: str | None, **headers: str) -> httpx.Response:
    listener = socket.create_server(("127.0.0.1", 0))
    figures = Figures(consumer_metrics(db).exposition, token)
    async with (
        serve_health(listener, lambda: None, figures) as port,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        return await client.get(f"http://127.0.0.1:{port}/metrics", headers=encoded(headers))


async def scrape_server(parts: Parts, **headers: str) -> httpx.Response:
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"
    async with (
        served(create_app(parts), listener, stop_within_s=1),
        httpx.AsyncClient(trust_env=False) as client,
    ):
        return await client.get(url, headers=encoded(headers))


async def service_of(db: Database) -> Values:
    async with db.transaction() as tx:
        service = await service_now(tx)
    return read(exposition(service_families(service, SystemClock().now())).decode())


async def test_depth_and_age_of_each_lane_and_class_are_told(db: Database) -> None:
    await enqueued(db, a_job(), a_job(), a_job(lane="plan", priority=Priority.INTERACTIVE))
    values = await service_of(db)
    capture = {"lane": "capture@x", "class": "default"}
    assert value(values, "queue_jobs", **capture, state="queued") == 2
    assert value(values, "queue_jobs", **capture, state="running") == 0
    assert 0 <= value(values, "queue_oldest_ready_seconds", **capture) < 60
    assert value(values, "queue_jobs", lane="plan", state="queued", **{"class": "interactive"}) == 1


async def test_who_is_there_who_leads_and_what_is_wrong_are_told(db: Database) -> None:
    async with db.transaction() as tx:
        await queue.register_consumer(tx, Consumer(ANN, "ann", 1, "1", (), (), None))
        await take_lead(tx, "ann", timedelta(seconds=30))
        await raise_alarm(tx, "old_transaction", {}, times=3)
    values = await service_of(db)
    assert value(values, "consumers", state="running") == 1
    assert value(values, "leader_term") == 1
    assert value(values, "alarms", name="old_transaction") == 3
    assert value(values, "oldest_transaction_seconds") >= 0
    assert value(values, "queue_table_rows", state="dead") >= 0


async def test_without_a_leader_the_term_is_0(db: Database) -> None:
    assert value(await service_of(db), "leader_term") == 0


async def test_what_ended_in_all_consumers_is_told_from_the_rollups(db: Database) -> None:
    await consumer_metrics(db).flush.flush()
    await roll_up(db)
    values = await service_of(db)
    both = {"kind": "capture", "outcome": "completed"}
    assert value(values, "service_attempts_total", **both) == 2
    assert value(values, "service_attempt_run_seconds_bucket", **both, le="1.0") == 0
    assert value(values, "service_attempt_run_seconds_bucket", **both, le="2.0") == 2
    assert value(values, "service_attempt_run_seconds_sum", **both) == 3.0
    assert value(values, "service_attempt_wait_seconds_count", kind="capture") == 2


async def test_a_running_consumer_is_scraped(db: Database) -> None:
    answer = await scrape_consumer(db, token=None)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    values = read(answer.text)
    assert value(values, "claims_total") == 7
    assert value(values, "finds_total", after="hint") == 2
    assert value(values, "slots", lane="plan") == 1
    assert value(values, "running_jobs") == 3
    assert value(values, "listener_connected") == 1
    assert value(values, "is_leading") == 0
    assert value(values, "attempts_total", kind="capture", outcome="completed") == 2
    assert value(values, "attempt_wait_seconds_sum", kind="capture") == 0.08
    assert value(values, "metrics_pending_minutes") == 1


async def test_a_running_server_is_scraped(db: Database, tmp_path: Path) -> None:
    await enqueued(db, a_job())
    answer = await scrape_server(parts_on(db, tmp_path))
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    values = read(answer.text)
    assert value(values, "is_leading") == 0
    lane = {"lane": "capture@x", "class": "default", "state": "queued"}
    assert value(values, "queue_jobs", **lane) == 1


async def test_no_project_is_named(db: Database, tmp_path: Path) -> None:
    world = await a_world(db, tmp_path)
    told = (await scrape_server(parts_on(db, tmp_path))).text
    assert world.named["slug"] not in told
    assert not re.search(r"project", told)


async def test_a_scrape_leaves_nothing_behind_for_the_next(db: Database) -> None:
    before = list(REGISTRY.collect())
    texts = {exposition([gauge("slots", "again", 1.0)]) for _ in range(3)}
    assert len(texts) == 1
    assert [each.name for each in REGISTRY.collect()] == [each.name for each in before]


async def test_without_a_token_a_server_shows_them_to_its_own_machine_alone(
    db: Database, tmp_path: Path
) -> None:
    """A proxy on this machine asks for others, and says so."""
    parts = parts_on(db, tmp_path)
    assert (await scrape_server(parts)).status_code == 200
    for header in ("x-forwarded-for", "forwarded", "via", "x-real-ip"):
        refused = await scrape_server(parts, **{header: "192.0.2.7"})
        assert refused.status_code == 404, header
        assert "STORYSHELF_METRICS_TOKEN" in refused.json()["next_step"]


@pytest.mark.parametrize(
    ("client", "status"),
    [
        (("127.0.0.1", 1), 200),
        (("::1", 1), 200),
        (("192.0.2.7", 1), 404),
        (("fe80::1%eth0", 1), 404),
        (("testclient", 1), 404),
    ],
)
async def test_who_is_on_this_machine_is_told_by_the_address(
    db: Database, tmp_path: Path, client: tuple[str, int], status: int
) -> None:
    app = create_app(parts_on(db, tmp_path))
    transport = httpx.ASGITransport(app, client=client)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
        assert (await asking.get("/metrics")).status_code == status


async def test_a_proxy_that_only_passes_the_public_name_on_is_not_this_machine(
    db: Database, tmp_path: Path
) -> None:
    parts = parts_on(db, tmp_path)
    refused = await scrape_server(parts, host=PUBLIC_URL.removeprefix("http://"))
    assert refused.status_code == 404


@pytest.mark.parametrize(
    ("client", "url", "status"),
    [
        (("127.0.0.1", 1), "http://127.0.0.1:8766", 200),
        (("192.0.2.7", 1), "http://127.0.0.1:8766", 404),
        (("127.0.0.1", 1), "http://rebound.example.com:8766", 404),
    ],
)
async def test_without_a_token_a_consumer_shows_them_to_its_own_machine_alone(
    db: Database, client: tuple[str, int], url: str, status: int
) -> None:
    """Its port is open to others once probes come from elsewhere."""
    app = health_app(lambda: None, Figures(consumer_metrics(db).exposition))
    transport = httpx.ASGITransport(app, client=client)
    async with httpx.AsyncClient(transport=transport, base_url=url) as asking:
        assert (await asking.get("/metrics")).status_code == status
        assert (await asking.get("/health/ready")).status_code == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": f"bearer {TOKEN}"}, 200),
        ({"authorization": TOKEN}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": f"Bearer {TOKEN}s"}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": "Bearer \xe4"}, 401),
        ({}, 401),
    ],
)
async def test_with_a_token_only_who_sends_it_is_shown_them(
    db: Database, tmp_path: Path, sent: dict[str, str], status: int
) -> None:
    parts = replace(parts_on(db, tmp_path), metrics_token=TOKEN)
    of_server, of_consumer = (
        await scrape_server(parts, **sent),
        await scrape_consumer(db, TOKEN, **sent),
    )
    assert of_server.status_code == of_consumer.status_code == status
    for answer in (of_server, of_consumer):
        assert ("www-authenticate" in answer.headers) == (status == 401)


async def test_a_server_tells_of_the_leases_that_it_has_ended(db: Database, tmp_path: Path) -> None:
    ended = Standing(tally=Tally(taken_over=3, expired_at_last=1))
    answer = await scrape_server(replace(parts_on(db, tmp_path), standing=ended))
    assert value(read(answer.text), "reclaimed_jobs_total") == 3
    assert value(read(answer.text), "expired_at_last_attempt_total") == 1


async def test_with_a_token_also_who_is_elsewhere_may_ask(db: Database, tmp_path: Path) -> None:
    parts = replace(parts_on(db, tmp_path), metrics_token=TOKEN)
    sent = {"authorization": f"Bearer {TOKEN}", "x-forwarded-for": "192.0.2.7"}
    assert (await scrape_server(parts, **sent)).status_code == 200


def listed(heading: str) -> set[str]:
    """The metrics of one table of the README."""
    table = README.split(f"| metric of a {heading} |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `(storyshelf_\w+)`", table, re.MULTILINE))


def names_of(families: Iterable[Metric]) -> set[str]:
    return {f"{each.name}_total" if each.type == "counter" else each.name for each in families}


async def test_the_readme_lists_what_is_told(db: Database) -> None:
    both = names_of(Standing().families())
    assert both <= set(re.findall(r"`(storyshelf_\w+)`", README))
    assert names_of(consumer_metrics(db).families()) - both == listed("consumer")
    async with db.transaction() as tx:
        families = service_families(await service_now(tx), SystemClock().now())
        assert names_of(families) == listed("server")
