"""PostgreSQL with production settings, and a product in a folder that browsers can reach."""

from collections.abc import Iterator

import pytest

from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.embedded import PRODUCTION, EmbeddedPostgres
from tests.conftest import OWNER, database_on
from tests.db.server import a_data_folder, chosen_binaries, from_sync, on_server
from tests.flow.product import Product


@pytest.fixture(scope="module")
def durable_server() -> Iterator[EmbeddedPostgres]:
    with a_data_folder() as folder:
        server = EmbeddedPostgres(folder, chosen_binaries(), settings=PRODUCTION)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture
def empty_flow_database(
    durable_server: EmbeddedPostgres, request: pytest.FixtureRequest
) -> Iterator[str]:
    """The url of a database without a table."""
    name = f"flow_{abs(hash(request.node.nodeid))}"
    on_server(durable_server.admin_url, f"CREATE DATABASE {name} OWNER {OWNER}")
    yield database_on(durable_server, name)
    on_server(durable_server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def product(empty_flow_database: str) -> Iterator[Product]:
    from_sync(migrate.upgrade(empty_flow_database, SystemClock()))
    with a_data_folder() as folder:
        made = Product(folder, empty_flow_database)
        try:
            yield made
        finally:
            made.end()
