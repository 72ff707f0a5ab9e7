"""What is asked of the embedded server over a connection: whether it is ours, and its database."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from secrets import choice

import asyncpg

HOST = "127.0.0.1"
# Below the ports that systems give to outgoing connections: one of those could be in the way of a
# restart, and a server that comes back elsewhere is lost to whoever knows its old place.
PORTS = range(20_000, 32_768)
CONNECT_TIMEOUT_S = 5


async def served_folder(url: str) -> str | None:
    """Return the data folder of the server that answers at the superuser's url."""
    try:
        async with _connected(url) as connection:
            return str(await connection.fetchval("SHOW data_directory"))
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None


async def make_database(url: str, name: str, password: str) -> None:
    """Make a role of that name, no superuser, and its database; set its password again."""
    async with _connected(url) as connection:
        known = await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", name)
        words = ("ALTER" if known else "CREATE", name, password)
        role = "SELECT format($1 || ' ROLE %I LOGIN PASSWORD %L', $2::text, $3::text)"
        await connection.execute(await connection.fetchval(role, *words))
        found = "SELECT 1 FROM pg_database WHERE datname = $1"
        if not await connection.fetchval(found, name):
            await connection.execute(f'CREATE DATABASE "{name}" OWNER "{name}"')


def is_free(port: int) -> bool:
    """Tell whether a server could listen there now."""
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def any_free_port() -> int:
    """Return a port that nobody uses at this moment."""
    port = choice(PORTS)
    while not is_free(port):
        port = choice(PORTS)
    return port


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    # Loopback needs no TLS, and asking for it would look into a home that may not be readable.
    connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S, ssl=False)
    try:
        yield connection
    finally:
        await connection.close(timeout=CONNECT_TIMEOUT_S)
