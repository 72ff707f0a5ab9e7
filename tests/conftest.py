"""The database that tests run on: a server per test process, an empty database per test.

And the wheel, which is built once.
"""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import structlog
from hypothesis import HealthCheck, settings
from sqlalchemy.engine.url import make_url

from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.engine import Database
from tests.db.handed_on import NAME, HandedOn, schema_of
from tests.db.server import from_sync, on_server, running_server

TEMPLATE = "template_storyshelf"
OWNER = "storyshelf"
REPOSITORY = Path(__file__).resolve().parents[1]

# A law is not broken by a busy machine: no example has a time of its own beside its test's.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure() -> None:
    """Hear the signals of a terminal: a shell starts what runs in the background deaf to them.

    What tests start would inherit that, and then not be ended by what is to end it.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # marks are chosen by in this same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for a database, so that it can be run alone on another one."""
    for item in items:
        if isinstance(item, pytest.Function) and "postgres_server" in item.fixturenames:
            item.add_marker(pytest.mark.database)


@pytest.fixture(autouse=True)
def logging_of_its_own() -> Iterator[None]:
    """A test that sets up logging writes to a stream that is closed after it."""
    yield
    structlog.reset_defaults()


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


@pytest.fixture(scope="session")
def handed_on(postgres_server: EmbeddedPostgres, template_database: str) -> HandedOn:
    """The database that one test after the other is handed."""
    return HandedOn(
        admin_url=postgres_server.admin_url,
        url=database_on(postgres_server, NAME),
        owner=OWNER,
        template=template_database,
        schema=from_sync(schema_of(database_on(postgres_server, template_database))),
    )


@pytest.fixture
def database_url(handed_on: HandedOn) -> str:
    """The url of a migrated database without a row, whoever was connected to it before."""
    from_sync(handed_on.make_ready())
    return handed_on.url


@pytest.fixture
def empty_database_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """The url of a database without a table."""
    name = f"test_{uuid4().hex}"
    server = postgres_server
    on_server(server.admin_url, f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE template0")
    yield database_on(server, name)
    on_server(server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def unknown_db(
    postgres_server: EmbeddedPostgres, template_database: str
) -> AsyncIterator[Database]:
    """A database that no test has used: the planner knows nothing of what was there before."""
    name, server = f"test_{uuid4().hex}", postgres_server
    copy = f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE {template_database}"
    on_server(server.admin_url, copy)
    database = Database(database_on(server, name))
    yield database
    await database.close()
    on_server(server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """The product's own engine on an empty database."""
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    done = subprocess.run(
        [*command, "--outdir", str(folder), str(REPOSITORY)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("storyshelf-*.whl")
    return built


def database_on(server: EmbeddedPostgres, name: str) -> str:
    """Return the url of a database of that server, for the product's role."""
    return make_url(server.url).set(database=name).render_as_string(hide_password=False)
