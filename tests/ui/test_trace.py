"""The trace on a snapshot's page: asked for, waited for, looked at, and by whom."""

from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Database
from storyshelf.queue.job import Failed
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.people import sign_in
from tests.traces.recordings import a_zip, id_of, recorded
from tests.ui.visitor import Visitor

LOOK = {"a--one": "!", "b--two": "red"}


async def test_a_trace_is_asked_for_waited_for_and_said_to_have_failed(
    hand: Hand, visitor: Visitor
) -> None:
    build = await hand.run(LOOK)
    link = f"/projects/shop/builds/1/snapshots/{await id_of(hand, build, 'a--one')}"
    chosen = f"{link}?verdict=errored"
    page = await visitor.page(chosen)
    assert "Record a trace" in page.text
    assert chosen in [each.get("value") for each in page.all("input")]
    answer = await visitor.client.post(f"{link}/trace", data={"then": chosen})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{chosen}#trace")
    waiting = await visitor.page(link)
    assert "It is being recorded" in waiting.text
    assert "Look again" in waiting.text
    assert "Record" not in waiting.text.partition("Trace")[2].partition("How it was made")[0]
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("<b>no room</b>"))
    failed = await visitor.page(link)
    assert "It could not be recorded: <b>no room</b>" in failed.text
    assert "Record it again" in failed.text
    away = await visitor.client.post(f"{link}/trace", data={"then": "//evil.test"})
    assert away.headers["location"] == f"{link}#trace"


async def test_a_viewer_looks_at_what_is_there_and_asks_for_nothing(
    db: Database, hand: Hand, visitor: Visitor
) -> None:
    build = await hand.run(LOOK)
    with_trace = await recorded(hand, build, "a--one", a_zip())
    without = await id_of(hand, build, "b--two")
    roles = {hand.project.id: Role.VIEWER}
    await sign_in(db, visitor.client, "vera@shelf.test", roles=roles)
    shown = await visitor.page(f"/projects/shop/builds/1/snapshots/{with_trace}")
    assert "The story ended well this time. Recorded for Ada" in shown.text
    assert f"/projects/shop/builds/1/snapshots/{with_trace}/trace" in shown.links
    assert "again" not in shown.text.partition("Trace")[2].partition("How it was made")[0]
    bare = await visitor.page(f"/projects/shop/builds/1/snapshots/{without}")
    assert "trace" not in bare.ids
    led = await visitor.client.get(f"/projects/shop/builds/1/snapshots/{with_trace}/trace")
    assert led.status_code == 303
    assert led.headers["location"].startswith("http://shop.content.shelf.test/enter?note=")
