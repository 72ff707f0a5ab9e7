"""What can go wrong on the way to a forge, and what it comes to."""

from datetime import timedelta
from typing import Any

import pytest

from storyshelf.auth.secrets import Secrets
from storyshelf.clock import SystemClock
from storyshelf.deliveries import store
from storyshelf.deliveries.comment import marker_of
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.want import enqueue
from storyshelf.ids import ConnectionId, DeliveryId
from tests.builds.facts import read
from tests.builds.hand import Hand
from tests.deliveries.courier import MARKER, Courier
from tests.deliveries.forge import ANOTHER, Comment, FakeForge, answers

SHA = "c0ffee"
PULL = 12
WAITS = "SELECT EXTRACT(epoch FROM run_at - now()) AS s FROM jobs WHERE state = 'deferred'"
ATTEMPTS = (
    "SELECT a.outcome FROM job_attempts AS a JOIN jobs_done ON id = job_id WHERE kind = 'deliver'"
)


@pytest.fixture
async def github(courier: Courier, forge_url: str) -> ConnectionId:
    return await courier.connect(ConnectionKind.GITHUB, forge_url)


async def waits(hand: Hand) -> list[float]:
    return [float(row["s"]) for row in await read(hand, WAITS)]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408, 409])
async def test_what_may_pass_is_tried_again(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId, status: int
) -> None:
    forge.troubles.append(answers(status, "Unicorn!"))
    await hand.open(["a--one"])
    await courier.deliver()
    (row,) = await courier.deliveries()
    assert (row["state"], row["sending_until"]) == ("waiting", None)
    assert row["error"] == f"It answered {status}: Unicorn!"
    (wait_s,) = await waits(hand)
    assert 0 < wait_s <= 6
    await courier.let_time_pass()
    await courier.deliver()
    (row,) = await courier.deliveries()
    assert (row["state"], row["error"]) == ("sent", None)
    assert forge.effective(SHA) == {"UI Tests": "pending"}


@pytest.mark.usefixtures("github")
@pytest.mark.parametrize(
    ("status", "said", "between_s"),
    [
        (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "{reset}"}, (800, 1100)),
        (429, {"ratelimit_reset": "{reset}"}, (800, 1100)),
        (429, {"retry_after": "120"}, (100, 150)),
        (403, {"message": "You have exceeded a secondary rate limit"}, (50, 80)),
        (429, {"retry_after": "99999999"}, (7_000, 9_000)),
    ],
)
async def test_a_rate_limit_is_kept_by_the_whole_connection(
    courier: Courier,
    forge: FakeForge,
    status: int,
    said: dict[str, str],
    between_s: tuple[float, float],
) -> None:
    hand, reset = courier.hand, SystemClock().now() + timedelta(seconds=900)
    stamped = {k: v.format(reset=int(reset.timestamp())) for k, v in said.items()}
    forge.troubles.append(answers(status, **stamped))
    await hand.open(["a--one"], branch="one")
    await courier.deliver()
    (wait_s,) = await waits(hand)
    assert between_s[0] < wait_s < between_s[1]
    await hand.upload(["a--one"])
    await courier.deliver()
    assert len(forge.requests) == 1
    await courier.let_time_pass()
    await courier.deliver()
    assert forge.effective(SHA) == {"UI Tests": "pending"}
    assert await courier.unsaid() == []


async def test_a_wrong_token_says_what_to_mend_and_is_said_again_when_mended(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    forge.token = "another"
    build = await hand.open(["a--one"])
    await courier.deliver()
    (row,) = await courier.said_of(build)
    assert row.state == "failed"
    assert row.error is not None
    assert "401: Bad credentials" in row.error
    assert "enter a new one" in row.error
    async with hand.db.transaction() as tx:
        await store.replace_secret(tx, github, courier.secrets.seal("another"))
        await enqueue(tx, await store.raise_again(tx, github))
    await courier.deliver()
    assert forge.effective(SHA) == {"UI Tests": "pending"}
    assert await courier.unsaid() == []


async def test_one_subject_can_be_said_again(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    await hand.open(["a--one"])
    await courier.deliver()
    forge.statuses.clear()
    (row,) = await courier.deliveries()
    async with hand.db.transaction() as tx:
        await enqueue(tx, await store.raise_again(tx, github, only=DeliveryId(row["id"])))
    await courier.deliver()
    assert forge.effective(SHA) == {"UI Tests": "pending"}


@pytest.mark.parametrize("how", [{"repository": "shelf/other"}])
async def test_a_repository_that_is_not_there_fails_at_once(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str, how: dict[str, Any]
) -> None:
    await courier.connect(ConnectionKind.GITHUB, forge_url, comments=False, **how)
    forge.troubles.append(answers(404, "Not Found"))
    build = await hand.open(["a--one"])
    await courier.deliver()
    (said,) = await courier.said_of(build)
    assert said.error is not None
    assert "Check the repository's name" in said.error
    assert await waits(hand) == []


async def test_a_secret_that_another_key_sealed_is_told_of(
    hand: Hand, forge: FakeForge, courier: Courier, github: ConnectionId
) -> None:
    build = await hand.open(["a--one"])
    stranger = Courier(hand, secrets=Secrets(b"o" * 32))
    await stranger.deliver()
    (said,) = await courier.said_of(build)
    assert said.error is not None
    assert "sealed with another key" in said.error
    assert forge.requests == []


async def test_a_comment_whose_answer_was_late_is_not_made_twice(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    courier.timeout_s = 0.3
    forge.late_s = 0.6
    await hand.open(["a--one"], pull_request=PULL)
    await courier.deliver()
    assert len(forge.bodies(PULL)) <= 1
    forge.late_s = 0.0
    courier.timeout_s = 2.0
    await courier.let_time_pass()
    await courier.deliver()
    assert len(forge.bodies(PULL)) == 1
    assert await courier.unsaid() == []


async def test_a_crash_after_saying_it_says_the_same_again(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    build = await hand.open(["a--one"], pull_request=PULL)
    await courier.die_after_saying()
    await courier.die_after_saying()
    assert len(await courier.unsaid()) == 2
    await courier.let_time_pass()
    await courier.deliver()
    assert await courier.unsaid() == []
    assert forge.effective(SHA) == {"UI Tests": "pending"}
    (body,) = forge.bodies(PULL)
    assert f"builds/{build.number}" in body


async def test_who_talks_of_a_subject_is_waited_for(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    build = await hand.open(["a--one"])
    await courier.die_after_saying()  # nobody can know that it is dead, and does not still talk
    await hand.send(build, ["a--one"])
    forge.statuses.clear()
    await hand.cancel(build)
    await courier.deliver()
    assert forge.statuses == []
    await courier.let_time_pass()
    await courier.deliver()
    assert forge.effective(SHA) == {"UI Tests": "error"}


async def test_comments_that_a_lost_answer_doubled_are_one_again(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    mark = marker_of(MARKER)
    first, double = Comment(1, f"{mark}\nold"), Comment(2, f"{mark}\nold")
    copy = Comment(3, f"{mark}\nmine", author=ANOTHER)
    quoted = Comment(4, f"> {mark}\nold")
    forge.comments[PULL] = [Comment(5, "hello"), first, double, copy, quoted]
    await hand.open(["a--one"], pull_request=PULL)
    await courier.deliver()
    assert [each.id for each in forge.comments[PULL]] == [5, 1, 3, 4]
    assert "being uploaded" in first.body
    assert copy.body.endswith("mine")


async def test_a_comment_is_found_behind_many_others(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    ours = Comment(500, f"{marker_of(MARKER)}\nold")
    forge.comments[PULL] = [*(Comment(n, "hello") for n in range(1, 131)), ours]
    await hand.open(["a--one"], pull_request=PULL)
    await courier.deliver()
    assert len(forge.comments[PULL]) == 131
    assert "being uploaded" in ours.body


async def test_a_comment_that_somebody_deleted_comes_back(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    build = await hand.open(["a--one"], pull_request=PULL)
    await courier.deliver()
    forge.comments.clear()
    await hand.cancel(build)
    await courier.deliver()
    (body,) = forge.bodies(PULL)
    assert "Cancelled" in body


async def test_a_disabled_connection_says_nothing_and_tells_so(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    build = await hand.open(["a--one"])
    async with hand.db.transaction() as tx:
        await store.disable(tx, github)
    await courier.deliver()
    await hand.cancel(build)
    assert await courier.deliver() == 0
    (said,) = await courier.said_of(build)
    assert said.error is not None
    assert "disabled" in said.error
    assert forge.requests == []


async def test_a_connection_that_is_deleted_takes_its_deliveries_along(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    await hand.open(["a--one"])
    async with hand.db.transaction() as tx:
        await store.remove(tx, github)
    assert await courier.deliver() == 1
    assert forge.requests == []
    assert [row["outcome"] for row in await read(hand, ATTEMPTS)] == ["completed"]


async def test_a_forge_that_does_not_answer_is_tried_again(
    hand: Hand, courier: Courier, github: ConnectionId, forge: FakeForge
) -> None:
    courier.timeout_s = 0.2
    forge.slow_s = 1.0
    build = await hand.open(["a--one"])
    await courier.deliver()
    (said,) = await courier.said_of(build)
    assert said.state == "waiting"
    assert said.error is not None
    assert "did not answer within 0.2 s" in said.error
