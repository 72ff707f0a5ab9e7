from pathlib import Path

import httpx
import pytest
from starlette.responses import Response

from storyshelf.client.answers import Build
from storyshelf.client.errors import ApiProblemError, ServerUnreachableError, WaitTimeoutError
from storyshelf.client.retrying import DEFAULT_TRIES
from storyshelf.client.upload import upload
from storyshelf.client.wait import OUTAGE_S, SLOWEST_POLL_S, Seen, wait_for_end
from tests.client.helpers import HurriedClock, a_request, a_storybook, hashed, session
from tests.client.server import SLUG, FakeServer


async def uploaded(server: FakeServer, folder: Path) -> None:
    found = hashed(a_storybook(folder))
    async with session(server) as api:
        await upload(api, SLUG, found, a_request(found), lambda sent: None)


def unwatched(build: Build) -> None:
    pass


def then_away(server: FakeServer, status: int) -> Seen:
    """Once the build was seen, refuse for three times as long as one request is tried."""

    def seen(build: Build) -> None:
        if not build.has_ended:
            server.refusals += [Response(status_code=status)] * (3 * DEFAULT_TRIES)

    return seen


async def test_every_state_on_the_way_is_seen_and_the_last_returned(tmp_path: Path) -> None:
    server = FakeServer(states=["queued", "planning", "capturing", "pending"])
    await uploaded(server, tmp_path)
    seen: list[Build] = []
    async with session(server) as api:
        build = await wait_for_end(api, SLUG, 1, timeout_s=60, seen=seen.append)
    assert [one.state for one in seen] == ["planning", "capturing", "pending"]
    assert build == seen[-1]


async def test_a_build_that_had_ended_is_returned_without_a_wait(tmp_path: Path) -> None:
    server, clock = FakeServer(states=["passed"]), HurriedClock()
    await uploaded(server, tmp_path)
    async with session(server, clock=clock) as api:
        await wait_for_end(api, SLUG, 1, timeout_s=0, seen=unwatched)
    assert clock.waits == []


async def test_a_wait_ends_at_its_time_and_says_how_to_go_on(tmp_path: Path) -> None:
    server, clock = FakeServer(states=["capturing"]), HurriedClock()
    await uploaded(server, tmp_path)
    async with session(server, clock=clock) as api:
        with pytest.raises(WaitTimeoutError, match=r"after 90 s; it is capturing.*wait 1"):
            await wait_for_end(api, SLUG, 1, timeout_s=90, seen=unwatched)
    assert clock.monotonic() == pytest.approx(90)


async def test_polls_become_rarer_up_to_a_bound(tmp_path: Path) -> None:
    server, clock = FakeServer(states=["capturing"]), HurriedClock()
    await uploaded(server, tmp_path)
    async with session(server, clock=clock) as api:
        with pytest.raises(WaitTimeoutError):
            await wait_for_end(api, SLUG, 1, timeout_s=1000, seen=unwatched)
    assert clock.waits[0] == 1.0
    assert max(clock.waits) == SLOWEST_POLL_S


async def test_a_server_that_restarts_is_waited_for(tmp_path: Path) -> None:
    server, clock = FakeServer(states=["capturing", "capturing", "passed"]), HurriedClock()
    await uploaded(server, tmp_path)

    def is_away(request: httpx.Request) -> bool:
        return 1 <= clock.monotonic() < 200

    async with session(server, clock=clock, is_cut=is_away) as api:
        build = await wait_for_end(api, SLUG, 1, timeout_s=1000, seen=unwatched)
    assert build.state == "passed"
    assert clock.monotonic() > 200


async def test_a_server_that_stays_away_is_given_up_after_its_time(tmp_path: Path) -> None:
    server, clock = FakeServer(states=["capturing"]), HurriedClock()
    await uploaded(server, tmp_path)
    async with session(server, clock=clock, is_cut=lambda request: bool(clock.waits)) as api:
        with pytest.raises(ServerUnreachableError):
            await wait_for_end(api, SLUG, 1, timeout_s=10_000, seen=unwatched)
    assert OUTAGE_S < clock.monotonic() < OUTAGE_S + 60


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_database_that_is_away_behind_the_server_is_waited_for(
    tmp_path: Path, status: int
) -> None:
    server = FakeServer(states=["queued", "capturing", "passed"])
    await uploaded(server, tmp_path)
    async with session(server, clock=HurriedClock()) as api:
        away = then_away(server, status)
        build = await wait_for_end(api, SLUG, 1, timeout_s=1000, seen=away)
    assert build.state == "passed"
    assert server.refusals == []


async def test_a_server_that_goes_on_failing_is_an_error(tmp_path: Path) -> None:
    server = FakeServer(states=["queued", "capturing", "passed"])
    await uploaded(server, tmp_path)
    async with session(server, clock=HurriedClock()) as api:
        with pytest.raises(ApiProblemError):
            await wait_for_end(api, SLUG, 1, timeout_s=1000, seen=then_away(server, 500))


async def test_a_build_that_does_not_exist_is_an_error_at_once() -> None:
    clock = HurriedClock()
    async with session(FakeServer(), clock=clock) as api:
        with pytest.raises(ApiProblemError, match="no build 7"):
            await wait_for_end(api, SLUG, 7, timeout_s=60, seen=unwatched)
    assert clock.waits == []
