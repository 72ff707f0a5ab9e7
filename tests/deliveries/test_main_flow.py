"""From an upload to a verdict, as the forge and a webhook's receiver see it."""

import hmac
import json

from storyshelf.builds.build import Build
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.ids import SnapshotId
from storyshelf.review.decide import Seen, decide, decide_all
from storyshelf.snapshots.decision import Decision
from tests.builds.facts import snapshots_of
from tests.builds.hand import Hand
from tests.deliveries.courier import Courier
from tests.deliveries.forge import FakeForge
from tests.people import ADA

SHA = "c0ffee"
TESTS = "UI Tests"


async def changed(hand: Hand) -> Build:
    """A build with one change to review."""
    await hand.run({"a--one": "red", "b--two": "blue"})
    return await hand.run({"a--one": "green", "b--two": "blue"})


async def test_each_state_is_said_in_order(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    await courier.connect(ConnectionKind.GITHUB, forge_url)
    build = await hand.upload(["a--one"])
    await courier.deliver()
    await hand.plan(build, ["a--one"])
    await courier.deliver()
    await hand.capture(build, {"a--one": "red"})
    await hand.finalise(build)
    await courier.deliver()
    assert [(each.state, each.description) for each in forge.statuses] == [
        ("pending", "The build waits to be captured"),
        ("pending", "1 snapshot to capture and compare"),
        ("success", "1 snapshot accepted by the rule `first build`"),
    ]
    assert {each.link for each in forge.statuses} == {"http://shelf.test/projects/shop/builds/1"}
    assert await courier.unsaid() == []


async def test_accepting_is_success_denying_failure_and_undoing_pending(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    build = await changed(hand)
    await courier.connect(ConnectionKind.GITHUB, forge_url)
    (one,) = [
        row for row in (await snapshots_of(hand, build)).values() if row["verdict"] == "changed"
    ]
    said = []
    seen = Decision.NONE
    for decision in (Decision.ACCEPTED, Decision.DENIED, Decision.NONE, Decision.ACCEPTED):
        await decide(hand.db, build.id, [Seen(SnapshotId(one["id"]), seen)], decision, ADA)
        seen = decision
        await courier.deliver()
        said.append(forge.effective(SHA)[TESTS])
    assert said == ["success", "failure", "pending", "success"]


async def test_a_wish_that_changed_meanwhile_is_said_once(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    await courier.connect(ConnectionKind.GITHUB, forge_url)
    await hand.run({"a--one": "red"})
    assert await courier.deliver() > 1
    assert [each.state for each in forge.statuses] == ["success"]


async def test_the_storybook_has_a_check_of_its_own(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    await courier.connect(
        ConnectionKind.GITHUB, forge_url, checks_storybook=True, names_project=True
    )
    build = await hand.upload(["a--one"])
    await courier.deliver()
    contexts = {"UI Tests (shop)": "pending", "Storybook Publish (shop)": "success"}
    assert forge.effective(SHA) == contexts
    (published,) = [each for each in forge.statuses if each.state == "success"]
    assert published.link == f"http://shelf.test/projects/shop/builds/{build.number}/storybook"


async def test_gitlab_hears_what_the_machine_does_and_what_people_do(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    build = await changed(hand)
    await courier.connect(ConnectionKind.GITLAB, forge_url)
    again = await hand.upload(["a--one", "b--two"])
    await courier.deliver()
    await hand.plan(again, ["a--one", "b--two"])
    await courier.deliver()
    await hand.capture(again, {"a--one": "black", "b--two": "blue"})
    assert again.number == build.number + 1
    await hand.finalise(again)
    await courier.deliver()
    for decision in (Decision.ACCEPTED, Decision.NONE):
        (one,) = [
            row for row in (await snapshots_of(hand, again)).values() if row["verdict"] == "changed"
        ]
        seen = Decision(one["decision"])
        await decide(hand.db, again.id, [Seen(SnapshotId(one["id"]), seen)], decision, ADA)
        await courier.deliver()
    assert [each.state for each in forge.statuses] == ["pending", "running", "success", "running"]
    assert await courier.unsaid() == []


async def test_a_webhook_is_signed_and_says_its_version(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    await courier.connect(ConnectionKind.WEBHOOK, f"{forge_url}/hook", secret="hook-key")
    await hand.run({"a--one": "red"})
    await courier.deliver()
    ((headers, body),) = forge.events
    timestamp, signature = headers["x-storyshelf-signature"].split(",")
    signed = f"{timestamp.removeprefix('t=')}.".encode() + body
    assert signature == "v1=" + hmac.digest(b"hook-key", signed, "sha256").hex()
    said = json.loads(body)
    assert (said["version"], said["event"]) == (2, "build")
    assert said["id"] == headers["x-storyshelf-delivery"]
    build = said["build"]
    assert (build["status"], build["result"], build["specCount"]) == ("ACCEPTED", "SUCCESS", 1)
    assert build["webUrl"] == "http://shelf.test/projects/shop/builds/1"
    assert build["project"]["name"] == "Shop"


async def test_all_is_decided_at_once(
    hand: Hand, courier: Courier, forge: FakeForge, forge_url: str
) -> None:
    build = await changed(hand)
    await courier.connect(ConnectionKind.GITHUB, forge_url)
    await decide_all(hand.db, build.id, Decision.DENIED, ADA)
    await courier.deliver()
    assert [(each.state, each.description) for each in forge.statuses] == [
        ("failure", "1 change denied, 0 accepted")
    ]
