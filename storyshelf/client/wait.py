"""Wait until a build has a verdict, over restarts of the server and of its database."""

from collections.abc import Callable

from storyshelf.client.answers import Build
from storyshelf.client.api import Api
from storyshelf.client.errors import WaitTimeoutError, is_away
from storyshelf.client.exit_codes import ClientError

FIRST_POLL_S = 1.0
SLOWEST_POLL_S = 5.0
SHARE_OF_WAIT = 0.02  # after a minute of waiting a poll every 1.2 s, after four every 5 s
OUTAGE_S = 300.0  # a server that is upgraded is back within it

Seen = Callable[[Build], None]


async def wait_for_end(api: Api, slug: str, number: int, *, timeout_s: float, seen: Seen) -> Build:
    """Poll until the build has ended and return it; every answer goes to `seen`.

    A server or database that goes away is waited for, up to five minutes at a time; one that was
    away from the first is not. The build itself goes on when the wait times out.
    """
    started_s = api.clock.monotonic()
    build = await api.build(slug, number)
    seen(build)
    while not build.has_ended:
        waited_s = api.clock.monotonic() - started_s
        if waited_s >= timeout_s:
            raise WaitTimeoutError(number, build.url, state=build.state, waited_s=waited_s)
        pause_s = min(SLOWEST_POLL_S, max(FIRST_POLL_S, waited_s * SHARE_OF_WAIT))
        await api.clock.sleep(min(pause_s, timeout_s - waited_s))
        build = await _build_over_outages(api, slug, number)
        seen(build)
    return build


async def _build_over_outages(api: Api, slug: str, number: int) -> Build:
    asked_s = api.clock.monotonic()
    while True:
        try:
            return await api.build(slug, number)
        except ClientError as error:
            if not is_away(error) or api.clock.monotonic() - asked_s > OUTAGE_S:
                raise
            await api.clock.sleep(SLOWEST_POLL_S)
