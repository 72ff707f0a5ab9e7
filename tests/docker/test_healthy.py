"""The program behind HEALTHCHECK, run as an engine runs it, against a consumer's own answers."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from consumer.health import serve_health
from tests.docker.composed import DOCKER

NO_PROXY_HELPS = {"http_proxy": "http://127.0.0.1:9", "PATH": "/usr/bin:/bin"}


@asynccontextmanager
async def answering(why_not: str | None) -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    async with serve_health(listener, lambda: why_not) as port:
        yield port


async def asked(port: int) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(DOCKER / "healthy.py"), "SOME_PORT"),
        env=NO_PROXY_HELPS | {"SOME_PORT": str(port)},
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    return process.returncode, said.decode()


async def test_who_is_ready_is_healthy() -> None:
    async with answering(None) as port:
        assert await asked(port) == (0, "")


async def test_who_is_not_ready_says_why() -> None:
    async with answering("the consumer is stopping") as port:
        code, said = await asked(port)
    assert code == 1
    assert "the consumer is stopping" in said


async def test_who_does_not_answer_is_not_healthy() -> None:
    with socket.socket() as bound_only:
        bound_only.bind(("127.0.0.1", 0))
        port = bound_only.getsockname()[1]
        code, said = await asked(port)
    assert code == 1
    assert f"nothing answers on port {port}" in said


async def test_who_was_told_not_to_answer_is_not_asked() -> None:
    assert await asked(0) == (0, "")
