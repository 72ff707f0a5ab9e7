"""Every page of the product, with something on it: what people and machines look at one by one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import httpx
from playwright.async_api import Page

from storyshelf.audit import store as audit
from storyshelf.auth import sign_in as door
from storyshelf.auth import user_store
from storyshelf.auth.permissions import Role
from storyshelf.auth.secrets import Secrets
from storyshelf.auth.store import TokenUse
from storyshelf.builds import environment_store
from storyshelf.builds.sample_progress import sample_progress
from storyshelf.db.engine import Database
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.manage import Desk, Typed, read_typed
from storyshelf.ids import ConsumerId, EnvironmentId
from storyshelf.projects import store as projects
from storyshelf.projects.make import make_token
from storyshelf.queue import store as queue
from storyshelf.queue.job import Failed, NewJob, Priority
from tests.builds.facts import read, run, snapshots_of
from tests.builds.hand import CAPTURE_LANE, CONSUMER, ENVIRONMENT, Hand
from tests.people import ADA, sign_in
from tests.ui.busy import an_hour_of_work

HOSTILE = '"><img src=x onerror=alert(1)>'
FIRST = {f"a--{number:02}": "red" for number in range(9)} | {"d--gone": "old", "e--same": "red"}
NEXT = {f"a--{number:02}": "pink" for number in range(9)} | {
    "b--error": "!",
    "c--new": "white",
    "e--same": "red",
}
SHOP = "/projects/shop"
SETTINGS = f"{SHOP}/settings"
STRANGER = "nobody"
OUTSIDER = "cleo@shelf.test"  # signed in, and in no project


IDLE = ConsumerId("idle")
Act = Callable[[Page], Awaitable[None]]


@dataclass(frozen=True)
class Shown:
    """A page as somebody comes to it; `act` is what they do there before it is looked at."""

    name: str
    link: str
    route: str = ""  # the route's path, where the link is not that itself
    who: str = ADA.email
    act: Act | None = None

    @property
    def path(self) -> str:
        return self.route or self.link.partition("?")[0].replace(SHOP, "/projects/{slug}")


def sending(button: str, **fields: str) -> Act:
    """Return how a form is filled, without what the browser itself would refuse, and sent."""

    serial = count(1)  # in place of each `*`: what is made is made once in each window

    async def act(page: Page) -> None:
        await page.evaluate("document.querySelectorAll('form').forEach(f => f.noValidate = true)")
        for name, value in fields.items():
            await page.fill(f"[name={name}]", value.replace("*", str(next(serial))))
        await page.click(f"button:text-is('{button}')")

    return act


async def furnish(hand: Hand) -> Sequence[Shown]:
    """Fill the server with what can be on its pages, and return these."""
    await hand.run(FIRST)
    build = await hand.run(
        NEXT, branch="feature/a-branch-whose-name-takes-more-than-one-line-i-fear"
    )
    await hand.run(FIRST, branch=HOSTILE)
    rows = await snapshots_of(hand, build)
    await _people(hand)
    await _settings(hand)
    await _queue(hand)
    await an_hour_of_work(hand.db)
    jobs = await _a_job_of_each_state(hand)
    await _half_captured(hand)
    await _without_its_browser(hand)
    link = await _link_of(hand)
    snapshot = f"{SHOP}/builds/2/snapshots"
    of_snapshot = "/projects/{slug}/builds/{number}/snapshots/{snapshot_id}"
    of_build = "/projects/{slug}/builds/{number}"
    return (
        Shown("projects", "/"),
        Shown("projects-none", "/?q=nothing+like+that", "/"),
        Shown("projects-of-nobody", "/", who=OUTSIDER),
        Shown("project", SHOP),
        Shown("project-filtered", f"{SHOP}?state=pending&branch=nowhere"),
        Shown("project-empty", "/projects/empty", "/projects/{slug}"),
        Shown("branches", f"{SHOP}/branches"),
        Shown("branches-empty", "/projects/empty/branches", "/projects/{slug}/branches"),
        Shown("build", f"{SHOP}/builds/2", of_build),
        Shown("build-under-way", f"{SHOP}/builds/4", of_build),
        Shown("build-failed", f"{SHOP}/builds/5", of_build),
        Shown("build-captured", f"{SHOP}/builds/6", of_build),
        Shown("build-waiting", f"{SHOP}/builds/7", of_build),
        Shown("build-delete", f"{SHOP}/builds/3/delete", f"{of_build}/delete"),
        Shown("build-delete-not", f"{SHOP}/builds/1/delete", f"{of_build}/delete"),
        *(
            Shown(f"snapshot-{story[0]}", f"{snapshot}/{rows[story]['id']}", of_snapshot)
            for story in ("a--00", "b--error", "c--new", "d--gone", "e--same")
        ),
        Shown("new-project", "/new-project"),
        Shown("new-project-wrong", "/new-project", act=sending("Make the project", slug="No Slug")),
        Shown("new-project-made", "/new-project", act=sending("Make the project", slug="made-*")),
        Shown("settings", SETTINGS),
        Shown(
            *("settings-wrong", SETTINGS),
            act=sending("Save the settings", name="", diff_threshold="much", keep_days="soon"),
        ),
        Shown("tokens", f"{SETTINGS}/tokens"),
        Shown("tokens-made", f"{SETTINGS}/tokens", act=sending("Make the token", name="nightly")),
        Shown("tokens-wrong", f"{SETTINGS}/tokens", act=sending("Make the token", name="")),
        Shown("members", f"{SETTINGS}/members"),
        Shown("members-wrong", f"{SETTINGS}/members", act=sending("Add", email="who@shelf.test")),
        Shown("connections", f"{SETTINGS}/connections"),
        *(
            Shown(
                f"connection-new-{kind}",
                f"{SETTINGS}/connections/new/{kind}",
                "/projects/{slug}/settings/connections/new/{kind}",
            )
            for kind in ConnectionKind
        ),
        Shown("delete-build", f"{SHOP}/builds/5/delete", f"{of_build}/delete"),
        Shown("delete-build-kept", f"{SHOP}/builds/1/delete", f"{of_build}/delete"),
        Shown("delete", f"{SETTINGS}/delete"),
        Shown("delete-wrong", f"{SETTINGS}/delete", act=sending("Delete the project", slug="no")),
        Shown("audit", f"{SHOP}/audit"),
        Shown("operations", "/operations"),
        Shown("jobs", "/operations/jobs"),
        Shown("jobs-queued", "/operations/jobs?show=queued"),
        *(
            Shown(f"job-{state}", f"/operations/jobs/{job_id}", "/operations/jobs/{job_id}")
            for state, job_id in jobs.items()
        ),
        Shown("users", "/operations/users"),
        Shown(
            *("users-added", "/operations/users"),
            act=sending("Add, and show a sign-in link", email="eve-*@shelf.test"),
        ),
        Shown("operations-audit", "/operations/audit"),
        Shown("account", "/account"),
        Shown("api", "/api/v1/docs"),
        Shown("sign-in", "/sign-in", who=STRANGER),
        Shown(
            *("sign-in-wrong", "/sign-in"),
            who=STRANGER,
            act=sending("Sign in", email="ada@shelf.test", password="not the one"),
        ),
        Shown("sign-in-link", f"/sign-in/{link}", "/sign-in/{secret}", who=STRANGER),
        Shown("problem-404", "/projects/nobody", "/projects/{slug}"),
        Shown("problem-403", "/operations", who=OUTSIDER),
        Shown("problem-422", f"{SHOP}?state=splendid"),
    )


async def stay(db: Database) -> None:
    """Have the consumers beat, however long somebody looks at other pages."""
    async with db.transaction() as tx:
        for consumer_id in (CONSUMER, IDLE):
            await queue.beat(tx, consumer_id, queue.Beat(running=[]), timedelta(minutes=5))


async def _people(hand: Hand) -> None:
    async with httpx.AsyncClient(base_url="http://shelf.test") as client:
        await sign_in(hand.db, client, OUTSIDER, roles={})
    async with hand.db.transaction() as tx:
        for number, role in enumerate((*Role, Role.VIEWER)):
            email = f"person-{number}@a-rather-long-host-name.shelf.test"
            user_id = await user_store.add_user(tx, email, f"Person {number} {HOSTILE}")
            assert user_id is not None
            await user_store.set_role(tx, hand.project.id, user_id, role)
            if number == len(Role):
                await user_store.disable(tx, user_id)


async def _settings(hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        await projects.add(tx, "empty", "Nothing was uploaded here yet", "main")
        for name in ("ci", HOSTILE, "a token whose name says at length what it is for"):
            await make_token(tx, hand.project, TokenUse(name, lives=timedelta(days=1)), "ada")
        desk = Desk(hand.project.id, ADA.email, Secrets(b"k" * 32))
        for typed in (
            Typed(ConnectionKind.GITHUB, "shelf/shop", secret="hidden"),
            Typed(ConnectionKind.WEBHOOK, url="https://hooks.shelf.test/from/storyshelf"),
        ):
            await desk.connect(tx, read_typed(typed))
        detail = {"viewports": ["375px"], "name": HOSTILE, "keep_builds": None}
        await audit.record(tx, audit.Event(HOSTILE, "project.set", hand.project.id, detail=detail))


async def _queue(hand: Hand) -> None:
    """Builds that are planned and that failed, jobs that wait, consumers with work and without."""
    about = ("host-of-a-consumer-with-a-long-name.internal", 4711, "1.2.3")
    async with hand.db.transaction() as tx:
        await environment_store.know_environment(tx, ENVIRONMENT, {"browser": "chromium"})
        for consumer_id in (CONSUMER, IDLE):
            lanes = ("build", "deliver", "plan", f"capture@{ENVIRONMENT}")
            slots = {"build": 4, "deliver": 2, f"capture@{ENVIRONMENT}": 3}
            consumer = queue.Consumer(
                consumer_id, *about, lanes, ("plan",), ENVIRONMENT, slots=slots
            )
            await queue.register_consumer(tx, consumer)
    await hand.upload(sorted(FIRST))
    await hand.upload(sorted(FIRST), branch="other")
    await hand.claim("plan")
    await hand.settle(await hand.claim("plan"), Failed("The browser did not start: no such file"))
    async with hand.db.transaction() as tx:
        lost = [NewJob("capture", "capture@lost", {}, priority=Priority.INTERACTIVE)] * 25
        await queue.enqueue(tx, lost)


async def _half_captured(hand: Hand) -> None:
    """A build that moves, and whose pace was reckoned."""
    build = await hand.upload(sorted(FIRST))
    await hand.plan(build, sorted(FIRST), shard_cost_ms=100)
    for _ in range(2):
        await hand.capture_one(FIRST)
    await hand.claim(CAPTURE_LANE)
    await sample_progress(hand.db)


async def _without_its_browser(hand: Hand) -> None:
    """A build that was planned again, and that waits for a browser that nobody has any more."""
    build = await hand.upload(sorted(FIRST), branch="another")
    await hand.plan(build, sorted(FIRST))
    facts = {"browser": "chromium", "version": "141.0.7390.37", "architecture": "x86_64"}
    async with hand.db.transaction() as tx:
        await environment_store.know_environment(tx, EnvironmentId("1a2b3c4d5e6f"), facts)
    why = "no consumer has chromium 140.0.7339.16 on x86_64 (9f8e7d6c5b4a) any more"
    await run(
        hand,
        "UPDATE builds SET environment_id = '1a2b3c4d5e6f', replans = 1, replan_reason = :why"
        " WHERE id = :id",
        id=build.id,
        why=f"{why}, there is chromium 141.0.7390.37 on x86_64 (1a2b3c4d5e6f)",
    )


async def _a_job_of_each_state(hand: Hand) -> Mapping[str, int]:
    rows = await read(
        hand,
        "SELECT state, max(id) AS id FROM jobs WHERE state IN ('queued', 'running') GROUP BY state"
        " UNION ALL SELECT state, max(id) FROM jobs_done WHERE state = 'failed' GROUP BY state",
    )
    return {row["state"]: row["id"] for row in rows}


async def _link_of(hand: Hand) -> str:
    async with hand.db.transaction() as tx:
        user_id = await user_store.add_user(tx, "fay@shelf.test", "Fay")
        assert user_id is not None
        return await door.make_link(tx, user_id, timedelta(hours=1))
