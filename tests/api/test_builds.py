"""Builds: listed, paged, shown, cancelled, captured again."""

from dataclasses import replace
from typing import Any

import pytest

from storyshelf.builds import record_results
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.plan_again import plan_elsewhere
from storyshelf.builds.sample_progress import sample_progress
from storyshelf.queue.job import Completed, Failed
from tests.api.client import Robo, problem
from tests.builds.facts import age_jobs, run
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, Hand
from tests.builds.test_plan_again import NEWER, a_consumer, come

LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue"}
STORIES = sorted(LOOK)


async def all_items(robo: Robo, path: str, **query: Any) -> list[dict[str, Any]]:
    """Follow a list to its end, page by page."""
    items: list[dict[str, Any]] = []
    after = None
    while True:
        page = (await robo.get(path, params=query | ({"after": after} if after else {}))).json()
        assert len(page["items"]) <= query["limit"]
        items += page["items"]
        after = page["next"]
        if after is None:
            return items


async def shown(robo: Robo, number: int = 1) -> dict[str, Any]:
    build: dict[str, Any] = (await robo.get(f"{robo.builds}/{number}")).json()["build"]
    return build


async def a_failed_build(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.settle(await hand.claim(f"capture@{ENVIRONMENT}"), Failed("no browser"))
    await hand.finalise(build)


async def test_a_build_tells_what_came_out(robo: Robo, hand: Hand) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet", "b--one": "!"})
    first, second = await shown(robo, 1), await shown(robo, 2)
    assert (first["state"], first["rule"], first["counts"]["accepted"]) == (
        "accepted",
        "first build",
        3,
    )
    assert (second["state"], second["ancestor"], second["environment"]) == ("broken", 1, "test")
    assert second["state_reason"] == "1 of its stories could not be rendered"
    counts = {name: number for name, number in second["counts"].items() if number}
    assert counts == {"unchanged": 1, "changed": 1, "errored": 1, "undecided": 1}
    assert second["progress"]["done"] == second["progress"]["total"] == 3


async def test_a_build_tells_where_its_storybook_is_once_it_was_uploaded_whole(
    robo: Robo, hand: Hand
) -> None:
    await hand.upload(STORIES)
    await hand.open(STORIES)
    whole, under_way = await shown(robo, 1), await shown(robo, 2)
    assert whole["storybook_url"] == "http://shelf.test/projects/shop/builds/1/storybook"
    assert under_way["storybook_url"] is None


async def test_a_build_under_way_tells_how_long_it_will_take(robo: Robo, hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    lease = await hand.claim(f"capture@{ENVIRONMENT}")
    async with hand.db.transaction() as tx:
        work = await record_results.read_work(tx, parse_capture(lease.payload))
    for snapshot in work.snapshots[:2]:
        await hand.record(lease, work, [await hand.shot(snapshot, LOOK)])
    await sample_progress(hand.db)
    progress = (await shown(robo))["progress"]
    assert (progress["done"], progress["total"]) == (2, 3)
    assert progress["rate_per_s"] > 0
    assert progress["sampled_at"]
    left = progress["eta_s"]
    assert 0 < left["low"] <= left["likely"] <= left["high"]


async def test_a_build_that_nobody_has_sampled_yet_has_no_pace(robo: Robo, hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    unknown = dict.fromkeys(["rate_per_s", "eta_s", "sampled_at"])
    assert (await shown(robo))["progress"] == {"done": 0, "total": 3, **unknown}


async def test_a_build_tells_what_it_waits_for_that_nobody_does(robo: Robo, hand: Hand) -> None:
    build = await hand.upload(STORIES)
    assert (await shown(robo))["waits_for"] is None  # a consumer may be starting
    await age_jobs(hand)
    assert (await shown(robo))["waits_for"]["what"] == "No consumer takes plan jobs"
    await come(hand.db, a_consumer(ENVIRONMENT))
    assert (await shown(robo))["waits_for"] is None
    await hand.plan(build, STORIES)
    await age_jobs(hand)
    await run(hand, "UPDATE consumers SET state = 'quiet'")
    assert "the browser" in (await shown(robo))["waits_for"]["what"]


async def test_a_build_tells_why_it_was_planned_again(robo: Robo, hand: Hand) -> None:
    await hand.plan(await hand.upload(STORIES), STORIES)
    assert (await shown(robo))["planned_again"] is None
    await come(hand.db, a_consumer(NEWER))
    await plan_elsewhere(hand.db, hand.kinds, CAPTURE_LANE)
    build = await shown(robo)
    assert (build["state"], build["generation"]) == ("queued", 2)
    assert "there is chromium of newer" in build["planned_again"]


async def test_a_build_tells_what_is_odd_about_its_storybook(robo: Robo, hand: Hand) -> None:
    build = await hand.upload(STORIES)
    assert (await shown(robo))["warnings"] == []
    lease = await hand.claim("plan")
    plan = replace(await hand.planned(build, STORIES), warnings=("A file did not load: ./b.js",))
    await hand.settle(lease, Completed(plan))
    assert (await shown(robo))["warnings"] == ["A file did not load: ./b.js"]


async def test_builds_are_paged_the_newest_first(robo: Robo, hand: Hand) -> None:
    for _ in range(7):
        await hand.open(STORIES)
    listed = await all_items(robo, robo.builds, limit=3)
    assert [build["number"] for build in listed] == [7, 6, 5, 4, 3, 2, 1]


async def test_builds_are_filtered_by_branch_and_state(robo: Robo, hand: Hand) -> None:
    await hand.run(LOOK)
    await hand.open(STORIES, "feature/x")
    await hand.open(STORIES)
    by_branch = await all_items(robo, robo.builds, limit=9, branch="main")
    assert [build["number"] for build in by_branch] == [3, 1]
    both = await all_items(robo, robo.builds, limit=9, branch="main", state="uploading")
    assert [build["number"] for build in both] == [3]


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 201},
        {"state": "splendid"},
        {"after": "nonsense"},
        {"after": "WyJ4Il0"},
        {"after": "WzEwMDAwMDAwMDAwMDAwMDAwMDAwMDAwXQ"},
        {"branch": "a\0b"},
    ],
)
async def test_a_list_refuses_what_it_cannot_mean(robo: Robo, query: dict[str, Any]) -> None:
    answer = await robo.get(robo.builds, params=query)
    assert answer.json()["type"] in {"about:blank#malformed-request", "about:blank#bad-cursor"}
    assert answer.status_code == 422


async def test_a_build_that_is_not_there_is_not_found(robo: Robo) -> None:
    problem(await robo.get(f"{robo.builds}/9"), 404, "no-such-build")
    for number in ("0", "-1", "x", "9999999999", "9" * 40):
        problem(await robo.get(f"{robo.builds}/{number}"), 422, "malformed-request")


async def test_a_cancelled_build_says_by_whom_and_why(robo: Robo, hand: Hand) -> None:
    await hand.upload(STORIES)
    await hand.upload(STORIES)
    await robo.post(f"{robo.builds}/1/cancel")
    await robo.post(f"{robo.builds}/2/cancel", json={"reason": "Superseded"})
    assert [(await shown(robo, n))["state_reason"] for n in (1, 2)] == [
        "cancelled by token ci",
        "Superseded",
    ]
    again = await robo.post(f"{robo.builds}/1/cancel")
    assert again.json()["build"]["state"] == "cancelled"


async def test_an_ended_build_cannot_be_cancelled(robo: Robo, hand: Hand) -> None:
    await hand.run(LOOK)
    problem(await robo.post(f"{robo.builds}/1/cancel"), 409, "build-moved")


async def test_a_failed_build_is_captured_again(robo: Robo, hand: Hand) -> None:
    await a_failed_build(hand)
    again = await robo.post(f"{robo.builds}/1/capture-again")
    build = again.json()["build"]
    assert (build["state"], build["generation"], build["ended_at"]) == ("queued", 2, None)
    problem(await robo.post(f"{robo.builds}/1/capture-again"), 409, "not-over")


async def test_what_was_never_whole_cannot_be_captured_again(robo: Robo, hand: Hand) -> None:
    await hand.open(STORIES)
    await robo.post(f"{robo.builds}/1/cancel")
    problem(await robo.post(f"{robo.builds}/1/capture-again"), 409, "never-sealed")


async def test_shards_are_listed_with_what_went_wrong(robo: Robo, hand: Hand) -> None:
    await a_failed_build(hand)
    (shard,) = (await robo.get(f"{robo.builds}/1/shards")).json()["items"]
    assert (shard["number"], shard["state"], shard["stories"]) == (1, "failed", 3)
    assert (shard["attempts"], shard["environment"]) == (1, "test")
    assert shard["error"]
    assert shard["closed_at"] >= shard["opened_at"]


async def test_a_failed_shard_is_tried_again(robo: Robo, hand: Hand) -> None:
    await a_failed_build(hand)
    retried = (await robo.post(f"{robo.builds}/1/shards/1/retry")).json()["build"]
    assert (retried["state"], retried["generation"]) == ("capturing", 2)
    problem(await robo.post(f"{robo.builds}/1/shards/1/retry"), 409, "nothing-to-retry")
    problem(await robo.post(f"{robo.builds}/1/shards/7/cancel"), 404, "no-such-shard")


async def test_a_cancelled_shard_fails_its_build(robo: Robo, hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    cancelled = await robo.post(f"{robo.builds}/1/shards/1/cancel")
    assert cancelled.status_code == 200
    assert (await robo.get(f"{robo.builds}/1/shards")).json()["items"][0]["state"] == "cancelled"
    assert (await hand.finalise(build)).state == "failed"
