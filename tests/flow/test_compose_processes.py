"""docker/compose.yaml without an engine: the same programs, settings and rights, as processes.

What differs is what an engine would make: the addresses are ports of the loopback, the database is
the tests', and the data are in a folder of their own. A service's capabilities are taken from its
processes where this user has any to lose.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from storyshelf.db.server_connection import any_free_port
from storyshelf.settings import Settings
from tests.db.server import a_data_folder
from tests.docker.composed import DOCKER, services
from tests.docker.dockerfile import last
from tests.flow.product import Product, Started, wait_for
from tests.storybook_builds import BUILD_DEADLINE_S, Look, build_example

pytestmark = [pytest.mark.flow, pytest.mark.timeout(BUILD_DEADLINE_S + 300)]

# Five capabilities are enough for the strong form; who is not root has none of them to keep.
FORM = "strong form" if os.geteuid() == 0 else "weak form"
LEASE_S = str(Settings.model_fields["lease_s"].default)  # compose leaves it as it is
PROGRAMS = {"storyshelf": "storyshelf.cli.main", "storyshelf-consumer": "consumer.main"}


@dataclass
class Composed:
    """The services, and the product that they become here."""

    services: dict[str, Any]
    product: Product
    server_port: int

    def start(self, name: str, **instead: str) -> Started:
        service = self.services[name]
        settings = service["environment"] | {
            "STORYSHELF_DATABASE_URL": self.product.database_url,
            **instead,
        }
        return self.product.start(*confined(service), *program(service), **settings)

    def migrate(self) -> Started:
        started = self.start("migrate")
        assert started.process.wait(60) == 0, started.words
        return started

    def serve(self) -> Started:
        port = str(self.server_port)
        server = self.start("server", STORYSHELF_HOST="127.0.0.1", STORYSHELF_PORT=port)
        self.product.url = f"http://127.0.0.1:{port}"
        wait_for(partial(self.is_healthy, "server", port), server)
        return server

    def consume(self) -> list[Started]:
        """Start as many as compose would, and wait until each says by its check that it can."""
        ports = [
            str(any_free_port()) for _ in range(self.services["consumer"]["deploy"]["replicas"])
        ]
        started = [self.start("consumer", STORYSHELF_HEALTH_PORT=port) for port in ports]
        for port, consumer in zip(ports, started, strict=True):
            wait_for(partial(self.is_healthy, "consumer", port), consumer)
        return started

    def is_healthy(self, image: str, port: str) -> bool:
        """Run the image's own check, with the file that it has from here."""
        _, script, variable = last(image, "HEALTHCHECK").program
        check = (sys.executable, str(DOCKER / Path(script).name), variable)
        return self.product.start(*check, **{variable: port}).process.wait(30) == 0


@pytest.fixture
def composed(empty_flow_database: str, tmp_path: Path) -> Iterator[Composed]:
    with a_data_folder() as folder:
        product = Product(folder, empty_flow_database, settings={"STORYSHELF_LEASE_S": LEASE_S})
        try:
            yield Composed(services(tmp_path), product, any_free_port())
        finally:
            product.end()


def program(service: dict[str, Any]) -> list[str]:
    """Return what the image's entry point ends in and the service's command, by our interpreter."""
    entry = last(service["build"]["target"], "ENTRYPOINT").program
    words = [*entry[len(entry) - entry[::-1].index("--") :], *service["command"]]
    return [sys.executable, "-m", PROGRAMS[words[0]], *words[1:]]


def confined(service: dict[str, Any]) -> Sequence[str]:
    """Return the prefix that leaves a process the capabilities of its service."""
    if os.geteuid() != 0:
        return ()
    kept = ",".join(["-all", *(f"+{name.lower()}" for name in service.get("cap_add", []))])
    return ("setpriv", f"--bounding-set={kept}", "--inh-caps=-all", "--no-new-privs", "--")


def test_what_compose_starts_takes_an_upload_to_its_verdict(composed: Composed) -> None:
    product = composed.product
    assert "from an empty database to" in composed.migrate().words
    server = composed.serve()
    consumers = composed.consume()
    assert [FORM in each.words for each in consumers] == [True, True]
    product.make_project("folio")

    first = product.publish(build_example(Look.CURRENT), "c1")
    assert (first.exit_code, product.state_of(1)) == (0, "accepted"), first.document
    changed = product.publish(build_example(Look.NEXT), "c2")
    assert (changed.exit_code, product.state_of(2)) == (1, "pending")
    assert first.document["build"]["url"].startswith("http://localhost:8765/")

    assert [each.stop() for each in (*consumers, server)] == [0, 0, 0]


def test_a_second_migrate_of_the_next_start_has_nothing_to_do(composed: Composed) -> None:
    composed.migrate()
    assert "Nothing to do" in composed.migrate().words
