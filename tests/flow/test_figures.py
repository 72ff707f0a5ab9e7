"""Server and consumer are scraped while they run, and what was counted outlives the consumer."""

import socket
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.flow.product import Product
from tests.operations.test_exposition import Values, read, value
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(200)]


def scrape(url: str) -> Values:
    return read(httpx.get(f"{url}/metrics", trust_env=False).raise_for_status().text)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def test_a_build_is_told_of_by_server_and_consumer_and_counted_once_it_is_over(
    product: Product, tmp_path: Path
) -> None:
    product.serve()
    product.make_project("shop")
    build = product.upload(write_tiny_storybook(tmp_path / "bundle", many_stories(4)), "c1")
    port = str(free_port())
    consumer = product.consume(STORYSHELF_HEALTH_PORT=port)
    product.wait_until_ended(build)
    of_consumer, of_server = scrape(f"http://127.0.0.1:{port}"), scrape(product.url)
    assert value(of_consumer, "attempts_total", kind="plan", outcome="completed") == 1
    assert value(of_consumer, "listener_connected") == 1
    assert value(of_server, "consumers", state="running") == 1
    assert consumer.stop() == 0
    assert "ending=done" in next(
        line for line in consumer.words.splitlines() if "step=figures" in line
    )
    attempts = Counter(row["outcome"] for row in product.rows("SELECT outcome FROM job_attempts"))
    counted = Counter[str]()
    for row in product.rows("SELECT outcome, count FROM job_metrics WHERE width = 'minute'"):
        counted[row["outcome"]] += row["count"]
    assert counted == attempts
    assert attempts["completed"] >= 3
