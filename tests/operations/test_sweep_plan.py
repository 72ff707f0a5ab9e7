"""What a sweep asks stays on indexes, however many snapshots there are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import TextClause, text

from storyshelf.db.engine import Database
from storyshelf.storage.local import LocalBlobs
from storyshelf.storage.store import UNUSED
from tests.builds.hand import Hand, a_hand
from tests.operations.house import before

BUILDS = """
INSERT INTO builds (
    project_id, number, idempotency_key, branch, commit, state, planned_generation, planned_at,
    ended_at
)
SELECT project_id, n, 'key ' || n, branch, commit, state, 1, now(), now()
FROM builds, generate_series(2, 40) AS n
"""
MANY = """
INSERT INTO snapshots (
    build_id, generation, story_id, mode, browser, title, name, import_path, options, verdict,
    reason, baseline_reason, image_key, mask_key, frames
)
SELECT
    b.id, 1, 'story ' || n, '', 'chromium', '', '', '', '{}', 'unchanged', '', '', k.key,
    CASE WHEN n % 10 = 0 THEN k.key END, CASE WHEN n % 50 = 0 THEN ARRAY[k.key] ELSE '{}' END
FROM builds AS b
JOIN generate_series(1, 1000) AS n ON true
JOIN blobs AS k ON k.key = encode(sha256(convert_to((n * 4)::text, 'UTF8')), 'hex')
"""
BLOBS = """
INSERT INTO blobs (key, size_bytes)
SELECT encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), 1 FROM generate_series(0, 8000) AS n
"""

TRACES = """
INSERT INTO traces (snapshot_id, state, job_id, blob_key, size_bytes, note, wished_by, ended_at)
SELECT id, 'recorded', id, image_key, 1, '', 'Ada', now() FROM snapshots WHERE id % 10 = 0
"""


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    hand = await a_hand(db, LocalBlobs(tmp_path))
    await hand.run({"a--one": "red", "b--two": "red"})
    async with db.transaction() as tx:
        for statement in (BUILDS, BLOBS, MANY, TRACES):
            await tx.execute(text(statement))
    async with db.engine.connect() as connection:
        await connection.exec_driver_sql("ANALYZE")
        await connection.commit()
    return hand


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes_of(child)


async def scans_of(hand: Hand, statement: TextClause, **values: object) -> set[tuple[str, str]]:
    """How each table is read."""
    async with hand.db.transaction() as tx:
        asked = text(f"EXPLAIN (FORMAT JSON) {statement.text}")
        ((plan,),) = (await tx.execute(asked, values)).all()
    nodes = nodes_of(plan[0]["Plan"])
    return {(node["Relation Name"], node["Node Type"]) for node in nodes if "Relation Name" in node}


@pytest.mark.timeout(60)
async def test_a_sweep_asks_an_index_about_each_blob(hand: Hand) -> None:
    scans = await scans_of(hand, UNUSED, after="", before=before(), page=1000)
    assert {table for table, _ in scans} == {"blobs", "bundle_files", "snapshots", "traces"}
    assert scans.isdisjoint({("snapshots", "Seq Scan"), ("traces", "Seq Scan")})


@pytest.mark.timeout(60)
async def test_a_page_of_blobs_reads_little(hand: Hand) -> None:
    """A few pages of index a blob."""
    values = {"after": "", "before": before(), "page": 1000}
    async with hand.db.transaction() as tx:
        asked = text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {UNUSED.text}")
        await tx.execute(text("UPDATE blobs SET used_at = used_at - interval '25 hours'"))
        ((plan,),) = (await tx.execute(asked, values)).all()
    read = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
    assert read < 60 * 1000
