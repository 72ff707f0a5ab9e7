from pathlib import Path

import httpx
import pytest
from starlette.responses import HTMLResponse, RedirectResponse, Response

from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.client.errors import ApiProblemError, BadAnswerError, ServerUnreachableError
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.retrying import CEILING_S, JITTER, Backoff
from tests.client.helpers import HurriedClock, a_request, a_storybook, hashed, session
from tests.client.server import SLUG, FakeServer, a_snapshot, problem


async def test_the_project_of_the_token_is_read() -> None:
    async with session(FakeServer()) as api:
        assert (await api.project()).slug == SLUG


async def test_the_servers_own_limits_are_used() -> None:
    server = FakeServer()
    server.limits["max_files"] = 7
    async with session(server) as api:
        assert await api.limits() == ManifestLimits(max_files=7)


async def test_a_wrong_token_is_refused_at_once_with_words_and_never_shown() -> None:
    server = FakeServer()
    async with session(server, token="ssp_stolen") as api:
        with pytest.raises(ApiProblemError, match="token is not known") as refused:
            await api.project()
    assert refused.value.exit_code == ExitCode.API_ERROR
    assert len(server.requests) == 1
    assert "ssp_" not in str(refused.value)


async def test_a_refusal_without_words_still_says_what_to_do_about_the_token() -> None:
    server = FakeServer(refusals=[Response(status_code=403)])
    async with session(server) as api:
        with pytest.raises(ApiProblemError, match=r"answered 403.*STORYSHELF_PROJECT_TOKEN"):
            await api.project()


async def test_a_refusal_names_the_request_as_the_servers_log_does() -> None:
    refused = Response(status_code=409, headers={"X-Request-Id": "abc123"})
    async with session(FakeServer(refusals=[refused])) as api:
        with pytest.raises(ApiProblemError, match=r"/api/v1/project, request abc123"):
            await api.project()


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    server, clock = FakeServer(refusals=[Response(status_code=status)] * 3), HurriedClock()
    async with session(server, clock=clock) as api:
        await api.project()
    assert clock.waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("status", [400, 404, 409, 413, 422, 501, 507])
async def test_a_lasting_failure_is_not_tried_again(status: int) -> None:
    server = FakeServer(refusals=[Response(status_code=status)])
    async with session(server) as api:
        with pytest.raises(ApiProblemError):
            await api.project()
    assert len(server.requests) == 1


async def test_a_server_that_stays_broken_is_reported_as_it_answered() -> None:
    server = FakeServer(refusals=[problem(503, "database", "The database is away", "")] * 9)
    async with session(server) as api:
        with pytest.raises(ApiProblemError, match="database is away"):
            await api.project()
    assert len(server.requests) == 6


async def test_a_server_that_asks_for_patience_gets_it_within_limits() -> None:
    server, clock = FakeServer(), HurriedClock()
    server.refusals = [
        Response(status_code=429, headers={"Retry-After": "7"}),
        Response(status_code=429, headers={"Retry-After": "86400"}),
        Response(status_code=429, headers={"Retry-After": "Tue, 01 Jan 2030 00:00:00 GMT"}),
    ]
    async with session(server, clock=clock) as api:
        await api.project()
    assert clock.waits == [7.0, 60.0, 2.0]


async def test_no_answer_at_all_ends_as_unreachable_with_the_address() -> None:
    async with session(FakeServer(), is_cut=lambda request: True) as api:
        with pytest.raises(ServerUnreachableError, match=r"cable is out.*shelf\.test, 6 tries"):
            await api.project()


async def test_a_blob_is_sent_again_from_its_first_byte(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path))
    file = folder.manifest.files[0]
    async with session(server) as api:
        await api.open_build(SLUG, a_request(folder))
        server.refusals = [Response(status_code=502)]
        await api.put_blob(SLUG, 1, file, folder.sources[file.sha256])
    assert server.blobs[file.sha256] == folder.sources[file.sha256].read_bytes()


async def test_a_redirect_is_named_not_followed() -> None:
    server = FakeServer(refusals=[RedirectResponse("https://elsewhere.test/login")])
    async with session(server) as api:
        with pytest.raises(BadAnswerError, match=r"redirects to https://elsewhere\.test"):
            await api.project()


async def test_another_services_page_is_not_taken_for_an_answer() -> None:
    server = FakeServer(refusals=[HTMLResponse("<h1>Sign in</h1>")])
    async with session(server) as api:
        with pytest.raises(BadAnswerError, match="STORYSHELF_URL"):
            await api.project()


async def test_lists_are_read_to_their_last_page(tmp_path: Path) -> None:
    server, folder = FakeServer(page_size=2), hashed(a_storybook(tmp_path))
    server.snapshots = [a_snapshot("changed", f"Story{number}") for number in range(5)]
    server.snapshots.append(a_snapshot("added", "New"))
    async with session(server) as api:
        await api.open_build(SLUG, a_request(folder))
        found = await api.snapshots(SLUG, 1, "changed")
    assert [snapshot.name for snapshot in found] == [f"Story{number}" for number in range(5)]


async def test_no_stories_has_an_exit_code_of_its_own() -> None:
    server = FakeServer(refusals=[problem(422, "no-stories", "The Storybook has no stories", "")])
    async with session(server) as api:
        with pytest.raises(ApiProblemError) as refused:
            await api.seal(SLUG, 1)
    assert refused.value.exit_code == ExitCode.NO_STORIES


async def test_a_timeout_counts_as_no_answer() -> None:
    server = FakeServer()
    calls: list[httpx.Request] = []

    def is_late(request: httpx.Request) -> bool:
        calls.append(request)
        if len(calls) == 1:
            raise httpx.ReadTimeout("too late", request=request)
        return False

    async with session(server, is_cut=is_late) as api:
        await api.project()
    assert len(calls) == 2


@pytest.mark.parametrize("draw", [0.0, 1.0])
def test_waits_grow_to_a_ceiling_and_end(draw: float) -> None:
    backoff = Backoff(lambda: draw, tries=20)
    waits = [backoff.after(failures) for failures in range(1, 20)]
    assert waits[-1] == pytest.approx(CEILING_S * (1 + JITTER * draw))
    assert waits == sorted(waits, key=lambda wait_s: wait_s or 0.0)
    assert backoff.after(20) is None
