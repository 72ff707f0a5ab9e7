"""What a consumer answers when it is asked how it is."""

import signal
import socket
from collections.abc import Callable

import httpx
import pytest

from consumer.health import HealthPortError, health_app, listen, serve_health, take_port


def ready() -> None:
    return None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def take(port: int) -> socket.socket:
    taken = take_port(port)
    assert taken is not None
    return taken


async def answer_of(port: int, path: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(f"http://127.0.0.1:{port}{path}")


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
async def test_a_consumer_that_is_well_says_so(path: str) -> None:
    async with serve_health(socket.create_server(("127.0.0.1", 0)), ready) as port:
        assert (await answer_of(port, path)).status_code == 200


async def test_one_that_is_stopping_lives_but_is_not_ready_and_says_why() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    async with serve_health(listener, lambda: "it is stopping") as port:
        live, waiting = (
            await answer_of(port, "/health/live"),
            await answer_of(port, "/health/ready"),
        )
    assert live.status_code == 200
    assert waiting.status_code == 503
    assert waiting.json() == {"status": "not ready", "why": "it is stopping"}


async def test_readiness_is_asked_anew_each_time() -> None:
    reasons = iter([None, "it is stopping"])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(health_app(lambda: next(reasons))), base_url="http://health"
    ) as client:
        codes = [(await client.get("/health/ready")).status_code for _ in range(2)]
    assert codes == [200, 503]


async def test_port_0_is_none() -> None:
    assert take_port(0) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_port_is_taken_on_the_address_that_was_said(host: str) -> None:
    taken = take_port(free_port(), host)
    assert taken is not None
    with taken:
        assert taken.getsockname()[0] in {host, "127.0.0.1"}


def test_an_address_that_is_not_of_this_machine_is_refused_by_its_setting() -> None:
    with pytest.raises(HealthPortError, match="STORYSHELF_HEALTH_HOST"):
        take_port(free_port(), "192.0.2.1")


async def test_a_port_is_taken_before_it_is_listened_on() -> None:
    with take(free_port()) as taken:
        with pytest.raises(httpx.ConnectError):
            await answer_of(taken.getsockname()[1], "/health/live")
        listen(taken)
        async with serve_health(taken, ready) as port:
            assert (await answer_of(port, "/health/ready")).status_code == 200


async def test_of_two_that_take_a_port_at_once_the_slower_is_refused() -> None:
    port = free_port()
    with take(port) as first, take(port) as second:
        listen(first)
        with pytest.raises(HealthPortError, match=f"STORYSHELF_HEALTH_PORT={port}"):
            listen(second)


async def test_nothing_listens_after_the_end() -> None:
    async with serve_health(socket.create_server(("127.0.0.1", 0)), ready) as port:
        pass
    with pytest.raises(httpx.ConnectError):
        await answer_of(port, "/health/live")


async def test_a_port_that_is_taken_is_refused_at_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HealthPortError, match=r"in use.*STORYSHELF_HEALTH_PORT"):
            take_port(port)


async def test_the_processs_own_signals_are_left_to_it() -> None:
    before: list[Callable[..., object] | int | signal.Handlers | None]
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with serve_health(socket.create_server(("127.0.0.1", 0)), ready) as port:
        await answer_of(port, "/health/live")
        now = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    assert now == before
