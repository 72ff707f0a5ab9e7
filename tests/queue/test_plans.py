"""Plans are tests: no statement on a hot or a periodic path reads the backlog.

Whoever adds a statement on `jobs` has to list it here, with values that make it work.
"""

import pkgutil
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import asyncpg
import pytest
from sqlalchemy import TextClause

from storyshelf.db.engine import Database
from storyshelf.queue import store
from storyshelf.queue.store.claim import NO_FLOOR
from tests.queue.crowded import RUNNING, analyze, crowd, faults, plan_of

TOKENS = [f"{n:032}" for n in range(1, RUNNING + 1)]
LANES = ["capture@0", "capture@1", "build"]
FLOORS = {f"floors_{each}": [NO_FLOOR] * 3 for each in (20, 10, 0)}
CLAIMING = {
    "lanes": LANES,
    "free": [8, 4, 2],
    "shared": [6, 3, 2],
    "consumer_id": "ann",
    "kinds": ["capture", "finalise"],
    "lease_s": 60,
    "lost": "lost",
}
PLACE = {"priority": 10, "fair_tag": 20_000, "after_id": 0, "limit": 50}
NEW = {
    "kind": "capture",
    "lane": "capture@0",
    "payload": "{}",
    "project_id": 150,
    "build_id": 7,
    "generation": 1,
    "priority": 10,
    "dedupe_key": "queued1",
    "max_attempts": 3,
    "delay_s": 0,
    "request_id": None,
    "traceparent": None,
}
COLUMNS = {
    **{f"{name}s": [value] * 40 for name, value in NEW.items() if name != "priority"},
    "priorities": [10] * 40,
    "max_attempts": [3] * 40,
    "delays_s": [0] * 40,
    "dedupe_keys": [f"queued{n}" if n % 2 else None for n in range(40)],
}
RUNS = "the ids of all that run"  # which the database gives
ON_A_LINE: Mapping[str, Mapping[str, Any]] = {
    "claim.CLAIM": {**CLAIMING, **FLOORS},
    "claim.REFILL": {**CLAIMING, **FLOORS, "floors_10": [5, 5, 5]},
    "settle.SETTLE_COMPLETED": {"ids": RUNS, "tokens": TOKENS},
    "enqueue.ENQUEUE": COLUMNS,
    "enqueue.ENQUEUE_ONE": NEW,
}
ENDINGS = ["completed", "retried", "released", "failed"]
POOLED: Mapping[str, Mapping[str, Any]] = {
    "enqueue.ENQUEUE": COLUMNS,
    "enqueue.ENQUEUE_ONE": NEW,
    "settle.SETTLE": {
        "ids": RUNS,
        "tokens": TOKENS,
        "outcomes": ENDINGS * (RUNNING // 4),
        "errors": [None, "again", "asked", "no"] * (RUNNING // 4),
        "delays_s": [None, 5, 0, None] * (RUNNING // 4),
    },
    "settle.SETTLE_COMPLETED": {"ids": RUNS, "tokens": TOKENS},
    "renew.RENEW": {"ids": RUNS, "tokens": TOKENS, "lease_s": 60},
    "renew.CHECK": {"ids": RUNS, "tokens": TOKENS},
    "renew.RENEW_FOR_WRITE": {"id": 272_000, "token": TOKENS[0], "lease_s": 60},
    "renew.RENEW_FOR_NOTE": {"id": 272_000, "token": TOKENS[0], "lease_s": 60},
    "cancel.CANCEL_JOBS": {"ids": RUNS, "error": "no"},
    "cancel.CANCEL_BUILD": {"build_id": 12_000, "older_than": 2, "error": "no"},
    "release.REQUEST_RELEASE": {"ids": RUNS},
    "expire.REQUEUE_EXPIRED": {"limit": 100, "lost": "lost"},
    "expire.OVERDUE": {"limit": 100},
    "expire.ALIKE": {"ids": RUNS},
    "expire.END_OVERDUE": {"ids": RUNS, "cancelled": "no", "gave_up": "gave up"},
    "dead.FREE": {"consumer": "consumer 3"},
    "dead.ANY_EXPIRED": {},
    "caps.LOCK_CAPS": {},
    "caps.LET_IN": {"locked": list(range(1, 101)), "at_once": 1_000},
    "age.PROMOTE": {"low": 0, "high": 10, "waited_s": 600, "limit": 100},
    "depths.COUNTED": {"bound": 1_001},
    "depths.SAMPLED": {"pages": list(range(0, 4_000, 80))},
    "unserved.UNSERVED": {"silent_s": 60, "head": 100, "deferred": 1_000},
    "lists.QUEUED": {**PLACE, "key": "capture@1"},
    "lists.PARKED": {**PLACE, "key": 17},
    "lists.FIRST_OF_LANES": {"lanes": LANES, "priorities": [20, 10, 0], "each": 5},
    "lists.RUNNING": {"after": 7, "limit": 50},
    "lists.DEFERRED": {"after_at": None, "after_id": None, "limit": 50},
    "one_job.JOB": {"id": 100_000},
    "reads.LIVE_JOBS": {"build_id": 12_000},
    "reads.IS_LIVE": {"id": 100_000},
    "remove.HAS_ANY": {"build_id": 12_000, "kinds": ["capture"]},
    "remove.REMOVE_OF_BUILD": {"build_id": 12_000, "kinds": ["capture"]},
}
EXCUSED = {
    "lane_tags.FORGET_LANES": "once an hour, and no index has all jobs by lane",
    "remove.REMOVE_OF_PROJECT": "a project is deleted once, and no index is kept up for that",
    "unserved.END_WAITING": "walks over what waits, of a lane unserved for an hour",
    "waited_for.WAITED_FOR": "walks over a class that who asks keeps short; see test_waited_for",
}
READS_JOBS = re.compile(r"\b(FROM|JOIN|UPDATE|INTO)\s+jobs\b")


def statements() -> dict[str, TextClause]:
    """Every statement of the store that reads or writes `jobs`, by module and name."""
    modules = {m.name: import_module(f"{store.__name__}.{m.name}") for m in _modules()}
    return {
        f"{module}.{name}": value
        for module, content in modules.items()
        for name, value in vars(content).items()
        if isinstance(value, TextClause) and READS_JOBS.search(value.text)
    }


def _modules() -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(store.__path__))


Connect = Callable[[Database], Awaitable["asyncpg.Connection[Any]"]]


async def a_line(db: Database) -> "asyncpg.Connection[Any]":
    """Connect as a line of the product does."""
    return await db._connection_for_line()


async def of_the_pool(db: Database) -> "asyncpg.Connection[Any]":
    """Connect as the pool of the product does."""
    _, options = db.engine.dialect.create_connect_args(db.url)
    connection: asyncpg.Connection[Any] = await asyncpg.connect(**options, **db._connecting)
    return connection


async def faults_of(
    db: Database, connect: Connect, listed: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    known = statements()
    connection = await connect(db)
    try:
        running = "SELECT id FROM jobs WHERE state = 'running' ORDER BY id"
        ids = [row[0] for row in await connection.fetch(running)]
        found = {
            name: faults(await plan_of(connection, known[name], with_ids(values, ids)))
            for name, values in listed.items()
        }
    finally:
        await connection.close()
    return {name: problems for name, problems in found.items() if problems}


async def nothing_yet(_db: Database) -> None:
    """A build came in a moment ago, and nobody has analysed the tables."""


def with_ids(values: Mapping[str, Any], ids: Sequence[int]) -> Mapping[str, Any]:
    return {name: ids if value is RUNS else value for name, value in values.items()}


@pytest.mark.timeout(120)
async def test_no_statement_reads_the_backlog(unknown_db: Database) -> None:
    await crowd(unknown_db)
    for planner_knows in (nothing_yet, analyze):
        await planner_knows(unknown_db)
        assert await faults_of(unknown_db, a_line, ON_A_LINE) == {}
        assert await faults_of(unknown_db, of_the_pool, POOLED) == {}


def test_every_statement_on_jobs_is_looked_at_or_excused_with_a_reason() -> None:
    assert statements().keys() == ON_A_LINE.keys() | POOLED.keys() | EXCUSED.keys()
