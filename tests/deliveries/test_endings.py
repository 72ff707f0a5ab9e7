"""However a build ends, every context of it is resolved; and the newest build has the word."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from storyshelf.builds import intake
from storyshelf.builds.build import Build
from storyshelf.builds.cancel_build import cancel_older
from storyshelf.builds.capture_again import capture_again
from storyshelf.builds.expire import expire_uploads
from storyshelf.builds.skip_build import Skip, skip_build
from storyshelf.builds.store import NewBuild
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.manage import Desk
from storyshelf.ids import ConnectionId
from storyshelf.operations.delete_build import Deletion, delete_build
from storyshelf.operations.delete_project import delete_project, finish_deletions
from storyshelf.queue.job import Failed
from storyshelf.review.decide import decide_all
from storyshelf.snapshots.decision import Decision
from tests.builds.facts import read, run
from tests.builds.hand import Hand
from tests.deliveries.courier import Courier
from tests.deliveries.forge import FakeForge
from tests.people import ADA

SHA = "c0ffee"
End = Callable[[Hand], Awaitable[object]]


@pytest.fixture
async def github(courier: Courier, forge_url: str) -> ConnectionId:
    return await courier.connect(ConnectionKind.GITHUB, forge_url, checks_storybook=True)


async def skipped(hand: Hand) -> None:
    new = NewBuild("", "main", SHA)
    await skip_build(hand.db, hand.project, new, Skip("ci", "no token in a fork"))


async def cancelled_in_upload(hand: Hand) -> None:
    await hand.cancel(await hand.open(["a--one"]))


async def cancelled_in_capture(hand: Hand) -> None:
    build = await hand.upload(["a--one"])
    await hand.plan(build, ["a--one"])
    await hand.cancel(build)


async def given_up(hand: Hand) -> None:
    await hand.open(["a--one"])
    await expire_uploads(hand.db, timedelta(0))


async def refused(hand: Hand) -> None:
    build = await hand.open([])
    await hand.send(build, [])
    with pytest.raises(Exception, match="stor"):
        await intake.seal(hand.db, hand.blobs, build)


async def plan_failed(hand: Hand) -> None:
    await hand.upload(["a--one"])
    await hand.settle(await hand.claim("plan"), Failed("no browser"))


async def broken(hand: Hand) -> None:
    await hand.run({"a--one": "!"})


async def accepted(hand: Hand) -> None:
    await hand.run({"a--one": "red"})


@pytest.mark.usefixtures("github")
@pytest.mark.parametrize(
    ("end", "states", "words"),
    [
        (skipped, "success success", "Skipped: no token in a fork"),
        (cancelled_in_upload, "error error", "Cancelled: not needed"),
        (cancelled_in_capture, "error success", "Cancelled: not needed"),
        (given_up, "error error", "Cancelled: the upload was not sealed within 0 hours"),
        (refused, "error error", "Cancelled: "),
        (plan_failed, "error success", "The build failed: its plan job failed: no browser"),
        (broken, "error success", "1 snapshot could not be rendered"),
        (accepted, "success success", "1 snapshot accepted by the rule `first build`"),
    ],
)
async def test_every_context_is_resolved(
    courier: Courier, forge: FakeForge, end: End, states: str, words: str
) -> None:
    await end(courier.hand)
    await courier.deliver()
    tests, storybook = states.split()
    assert forge.effective(SHA) == {"UI Tests": tests, "Storybook Publish": storybook}
    said = [each.description for each in forge.statuses if each.context == "UI Tests"]
    assert said[-1].startswith(words)
    assert await courier.unsaid() == []


async def test_captured_again_is_pending_again(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    build = await hand.upload(["a--one"])
    await hand.settle(await hand.claim("plan"), Failed("no browser"))
    await courier.deliver()
    await capture_again(hand.db, build.id, "Ada")
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "pending"


async def test_the_build_that_took_its_place_has_the_word_on_the_commit(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    await hand.upload(["a--one"])
    newer = await hand.upload(["a--one"])
    await cancel_older(hand.db, hand.kinds, newer)
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "pending"
    assert {each.link.rpartition("/builds/")[2] for each in forge.statuses} <= {"2", "2/storybook"}


async def test_an_older_build_decided_late_takes_nothing_back(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    await hand.run({"a--one": "red"})
    older: Build = await hand.run({"a--one": "green"})
    await hand.run({"a--one": "blue"})
    await decide_all(hand.db, older.id, Decision.DENIED, ADA)
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "pending"
    assert await courier.said_of(older) == []


async def test_a_build_that_is_deleted_while_it_waits_leaves_no_check_waiting(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    await hand.run({"a--one": "red"})
    undecided = await hand.run({"a--one": "green"})
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "pending"
    await delete_build(hand.db, hand.kinds, undecided, Deletion("Ada", "too many"))
    await courier.deliver()
    assert forge.effective(SHA) == {"UI Tests": "error", "Storybook Publish": "success"}
    assert forge.statuses[-1].description == "Cancelled: the build was deleted"


async def test_what_is_decided_while_a_connection_is_disabled_is_said_once_it_is_enabled(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    desk = Desk(hand.project.id, "Ada", courier.secrets)
    await hand.run({"a--one": "red"})
    build = await hand.run({"a--one": "green"})
    await courier.deliver()
    async with hand.db.transaction() as tx:
        await desk.disable(tx, github)
    await decide_all(hand.db, build.id, Decision.ACCEPTED, ADA)
    assert await courier.deliver() == 0
    assert forge.effective(SHA)["UI Tests"] == "pending"
    async with hand.db.transaction() as tx:
        await desk.enable(tx, github)
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "success"
    assert await courier.unsaid() == []


async def test_a_project_that_is_deleted_leaves_no_check_waiting(
    hand: Hand, courier: Courier, forge: FakeForge, github: ConnectionId
) -> None:
    await hand.run({"a--one": "red"})
    await hand.run({"a--one": "green"})
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "pending"
    await delete_project(hand.db, hand.kinds, hand.project, ADA.actor)
    await courier.deliver()
    assert forge.effective(SHA)["UI Tests"] == "error"
    await finish_deletions(hand.db, hand.kinds)
    assert await read(hand, "SELECT slug FROM projects") == []


async def test_a_forge_that_is_gone_keeps_no_project(hand: Hand, courier: Courier) -> None:
    await courier.connect(ConnectionKind.GITHUB, "http://127.0.0.1:1")
    await hand.run({"a--one": "red"})
    await delete_project(hand.db, hand.kinds, hand.project, ADA.actor)
    assert len(await read(hand, "SELECT slug FROM projects")) == 1
    await run(hand, "UPDATE projects SET deleting_at = deleting_at - interval '16 minutes'")
    await finish_deletions(hand.db, hand.kinds)
    assert await read(hand, "SELECT slug FROM projects") == []
