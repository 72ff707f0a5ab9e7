"""`storyshelf queue` and `storyshelf consumers`, as typed, on a real database."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from storyshelf.builds import environment_store
from storyshelf.cli.main import run
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import JobId, ProjectId
from storyshelf.projects import store as projects
from storyshelf.queue import store
from storyshelf.queue.job import Failed, NewJob
from storyshelf.queue.wakeup import CHANNEL
from tests.builds.hand import ENVIRONMENT
from tests.cli.test_project import Captured, execute, read_json
from tests.db.server import from_sync
from tests.queue.builders import ANN, LEASE_FOR
from tests.ui.busy import an_hour_of_work

T = TypeVar("T")
STATE = "SELECT state FROM consumers"


@pytest.fixture(autouse=True)
def named(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    return database_url


def on(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    async def opened() -> T:
        db = Database(url)
        try:
            return await work(db)
        finally:
            await db.close()

    return from_sync(opened())


def enqueued(url: str, *jobs: NewJob) -> tuple[JobId, ...]:
    async def work(db: Database) -> tuple[JobId, ...]:
        async with db.transaction() as tx:
            return tuple(job_id for job_id in await store.enqueue(tx, jobs) if job_id)

    return on(url, work)


def a_shop(url: str) -> ProjectId:
    async def work(db: Database) -> ProjectId:
        async with db.transaction() as tx:
            return (await projects.add(tx, "shop", "Shop", "main")).id

    return on(url, work)


PLAN = NewJob("plan", "plan", {"build_id": 1})


def running(url: str, ends_by: Failed | None = None, job: NewJob = PLAN) -> JobId:
    """A job that Ann runs, or has run."""

    async def work(db: Database) -> JobId:
        async with db.transaction() as tx:
            (job_id,) = await store.enqueue(tx, [job])
        async with db.transaction() as tx:
            (lease,) = (await store.claim(tx, ANN, {"plan": 1}, LEASE_FOR)).leases
            if ends_by is not None:
                await store.settle(tx, [(lease, ends_by)])
        assert job_id is not None
        return job_id

    return on(url, work)


async def register(tx: Tx) -> None:
    await environment_store.know_environment(tx, ENVIRONMENT, {})
    slots = {"plan": 2, "build": 1}
    about = ("node-7", 4711, "1.2.3", ("build", "plan"), ("plan",), ENVIRONMENT)
    await store.register_consumer(tx, store.Consumer(ANN, *about, slots=slots))


def with_ann(url: str) -> None:
    async def work(db: Database) -> None:
        async with db.transaction() as tx:
            await register(tx)

    on(url, work)


def done(capsys: Captured, *words: str, code: int = 0) -> dict[str, Any]:
    assert run([*words, "--json"]) == code
    return read_json(capsys)


def said(capsys: Captured, *words: str) -> str:
    assert run(words) == 0
    return " ".join(capsys.readouterr().out.split())


def audited(url: str) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in execute(url, "SELECT action, actor FROM audit_events")]


def test_an_idle_queue_says_so(capsys: Captured) -> None:
    told = said(capsys, "queue")
    for words in ("Nothing waits", "No attempt at a job has ended", "nobody: figures"):
        assert words in told
    assert "No consumer is there" in said(capsys, "consumers")
    assert "No job has failed." in said(capsys, "queue", "jobs")


def test_lanes_figures_alarms_and_the_leader_are_told(named: str, capsys: Captured) -> None:
    with_ann(named)
    running(named)
    on(named, an_hour_of_work)
    told = said(capsys, "queue")
    assert "plan default 0 0 0 1 - 1" in told
    assert "deliver default 0 1 0 0 - none" in told
    assert "WAIT P50" in told
    assert "No consumer takes the jobs of lane capture@lost (once, last just now)" in told
    assert "node-7:4711:abc, term 1" in told


def test_all_of_it_is_one_document(named: str, capsys: Captured) -> None:
    with_ann(named)
    running(named)
    on(named, an_hour_of_work)
    found = done(capsys, "queue")
    lane = {"lane": "plan", "class": "default", "queued": 0, "running": 1, "oldest_at": None}
    assert lane.items() <= found["lanes"][1].items()
    assert [each["kind"] for each in found["kinds"]] == ["capture", "deliver", "plan"]
    assert found["kinds"][0]["outcomes"]["retried"] == 20
    assert found["leader"] == {"holder": "node-7:4711:abc", "term": 1}
    assert found["consumers"] == {"running": 1, "quiet": 0, "stopping": 0}
    assert "Start a consumer" in found["alarms"][-1]["advice"]


@pytest.mark.parametrize("state", ["queued", "deferred", "running", "failed"])
def test_jobs_are_listed_by_state(named: str, capsys: Captured, state: str) -> None:
    later = NewJob("deliver", "deliver", {}, delay=timedelta(hours=1))
    queued, deferred = enqueued(named, NewJob("finalise", "build", {}), later)
    wanted = {
        "failed": running(named, Failed("the browser\nbroke")),
        "running": running(named),
        "queued": queued,
        "deferred": deferred,
    }
    assert [one["job_id"] for one in done(capsys, "queue", "jobs", "--state", state)["items"]] == [
        wanted[state]
    ]
    assert f"{wanted[state]}" in said(capsys, "queue", "jobs", "--state", state)


@pytest.mark.parametrize("state", ["queued", "deferred", "parked"])
def test_jobs_in_a_list_are_told_with_state_and_what_they_are_for(
    named: str, capsys: Captured, state: str
) -> None:
    (job_id,) = enqueued(named, NewJob("plan", "plan", {}, project_id=a_shop(named)))
    execute(named, f"UPDATE jobs SET state = '{state}'")
    told = said(capsys, "queue", "jobs", "--state", state)
    assert f"{job_id} plan shop plan {state} 0, 0 of 3 charged" in told


def test_what_failed_and_what_a_consumer_runs_is_told_with_what_it_is_for(
    named: str, capsys: Captured
) -> None:
    with_ann(named)
    of_shop = NewJob("plan", "plan", {"build_id": 1}, project_id=a_shop(named))
    failed, held = running(named, Failed("no"), of_shop), running(named, None, of_shop)
    assert f"{failed} plan shop plan failed" in said(capsys, "queue", "jobs")
    assert f"runs plan for shop, job {held}, attempt 1" in said(capsys, "consumers")


def test_a_job_is_told_with_its_attempts(named: str, capsys: Captured) -> None:
    job_id = running(named, Failed("the browser\nbroke"))
    found = done(capsys, "queue", "job", str(job_id))
    assert (found["job"]["state"], found["job"]["class"]) == ("failed", "default")
    assert found["job"]["payload"] == {"build_id": 1}
    assert [(one["outcome"], one["error"]) for one in found["attempts"]] == [
        ("failed", "the browser\nbroke")
    ]
    told = said(capsys, "queue", "job", str(job_id))
    assert f"Job {job_id} (plan) is failed." in told
    assert "the browser broke" in told


def test_what_a_story_said_does_not_steer_the_terminal(named: str, capsys: Captured) -> None:
    job_id = running(named, Failed("\x1b[2Jthe browser\x07 broke"))
    for words in (("queue", "jobs"), ("queue", "job", str(job_id))):
        assert r"\x1b[2Jthe browser\x07 broke" in said(capsys, *words)


def test_a_job_that_waits_is_cancelled_and_one_that_runs_is_asked(
    named: str, capsys: Captured
) -> None:
    (waiting,) = enqueued(named, NewJob("deliver", "deliver", {"delivery_id": 7, "version": 1}))
    assert done(capsys, "queue", "cancel", str(waiting))["job"]["state"] == "cancelled"
    held = running(named)
    assert "is asked to stop" in said(capsys, "queue", "cancel", str(held))
    assert audited(named) == [("job.cancel", "command line")] * 2


def test_a_running_job_is_given_back_and_a_waiting_one_is_not(named: str, capsys: Captured) -> None:
    held = running(named)
    assert "is being given back" in said(capsys, "queue", "release", str(held))
    (waiting,) = enqueued(named, NewJob("finalise", "build", {}))
    failure = done(capsys, "queue", "release", str(waiting), code=254)
    assert "nobody runs it" in failure["error"]["what"]
    assert audited(named) == [("job.release", "command line")]


def test_a_retry_says_that_another_job_does_it(named: str, capsys: Captured) -> None:
    (ended,) = enqueued(named, NewJob("tidy", "maintain", {}))
    done(capsys, "queue", "cancel", str(ended))
    told = said(capsys, "queue", "retry", str(ended))
    assert f"is cancelled. What it was for is done again by job {ended + 1}." in told
    assert "done again by a job that was there already" in said(
        capsys, "queue", "retry", str(ended)
    )
    assert audited(named) == [("job.cancel", "command line"), ("job.retry", "command line")]


def test_what_cannot_be_retried_is_refused_with_the_reason(named: str, capsys: Captured) -> None:
    job_id = running(named, Failed("no"))
    failure = done(capsys, "queue", "retry", str(job_id), code=254)
    assert "it was for no build" in failure["error"]["what"]


@pytest.mark.parametrize("command", ["job", "retry", "cancel", "release"])
def test_a_job_that_is_not_there_is_refused(capsys: Captured, command: str) -> None:
    failure = done(capsys, "queue", command, "77", code=254)
    assert "no such job" in failure["error"]["what"]
    done(capsys, "queue", command, "0", code=254)
    done(capsys, "queue", command, "nothing", code=254)


def test_consumers_are_told_with_slots_and_what_they_run(named: str, capsys: Captured) -> None:
    with_ann(named)
    job_id = running(named)
    told = said(capsys, "consumers")
    assert f"{ANN} takes work 1.2.3 just now build 0 of 1, plan 1 of 2" in told
    assert re.search(rf"runs plan, job {job_id}, attempt 1, for \d+ s", told)
    (one,) = done(capsys, "consumers")["items"]
    assert (one["id"], one["state"], one["slots"]) == (ANN, "running", {"plan": 2, "build": 1})
    assert [job["job_id"] for job in one["jobs"]] == [job_id]


def test_a_consumer_rests_takes_work_again_and_stops(named: str, capsys: Captured) -> None:
    with_ann(named)
    states = []
    for word in ("quiet", "resume", "stop"):
        assert done(capsys, "consumers", word, ANN) == {"consumer": ANN, "asked": word}
        states += execute(named, STATE)
    assert states == [("quiet",), ("running",), ("stopping",)]
    failure = done(capsys, "consumers", "resume", ANN, code=254)
    assert "it is stopping" in failure["error"]["what"]
    assert [action for action, _ in audited(named)] == [
        "consumer.quiet",
        "consumer.resume",
        "consumer.stop",
    ]


def test_a_consumer_that_is_not_there_is_asked_nothing(capsys: Captured) -> None:
    failure = done(capsys, "consumers", "stop", "nobody", code=254)
    assert "No such consumer" in failure["error"]["what"]


def test_consumers_hear_at_once_of_what_is_asked(named: str, capsys: Captured) -> None:
    with_ann(named)
    held = running(named)

    async def words_of(db: Database) -> set[str]:
        heard: set[str] = set()
        all_heard = asyncio.Event()

        def hear(_connection: Any, _sender: int, _channel: str, word: object) -> None:
            heard.add(str(word))
            if heard >= {"cancel", "consumers"}:
                all_heard.set()

        line = await db.direct_connection()
        await line.add_listener(CHANNEL, hear)
        for typed in (["queue", "cancel", str(held)], ["consumers", "quiet", ANN]):
            assert await asyncio.to_thread(run, typed) == 0
        await all_heard.wait()
        await line.close()
        return heard

    assert on(named, words_of) == {"cancel", "consumers"}
    assert "is asked to stop" in capsys.readouterr().out
