"""The database that tests run on: a server per test process, a fresh copy per test."""

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest
from sqlalchemy.engine.url import make_url

from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.engine import Database
from tests.db.server import from_sync, on_server, running_server

TEMPLATE = "template_storyshelf"
OWNER = "storyshelf"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[EmbeddedPostgres]:
    """A server without durability; `admin_url` may make databases."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def template_database(postgres_server: EmbeddedPostgres) -> str:
    """The name of a database that was migrated once and that nobody connects to."""
    on_server(postgres_server.admin_url, f"CREATE DATABASE {TEMPLATE} OWNER {OWNER}")
    from_sync(migrate.upgrade(database_on(postgres_server, TEMPLATE), SystemClock()))
    return TEMPLATE


@pytest.fixture
def database_url(postgres_server: EmbeddedPostgres, template_database: str) -> Iterator[str]:
    """The url of a fresh, migrated database, gone after the test whoever is still connected."""
    yield from a_database(postgres_server, f"TEMPLATE {template_database}")


@pytest.fixture
def empty_database_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """The url of a database without a table."""
    yield from a_database(postgres_server, "TEMPLATE template0")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """The product's own engine on a fresh database."""
    database = Database(database_url)
    yield database
    await database.close()


def a_database(server: EmbeddedPostgres, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    on_server(server.admin_url, f"CREATE DATABASE {name} OWNER {OWNER} {template}")
    yield database_on(server, name)
    on_server(server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")


def database_on(server: EmbeddedPostgres, name: str) -> str:
    """Return the url of a database of that server, for the product's role."""
    return make_url(server.url).set(database=name).render_as_string(hide_password=False)
