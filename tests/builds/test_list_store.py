"""What lists ask of the builds of many branches and projects."""

from sqlalchemy import text

from storyshelf.builds import list_store
from storyshelf.ids import BuildId, ProjectId
from storyshelf.projects import store as projects
from tests.builds.hand import Hand

MANY = text("""
INSERT INTO builds (project_id, number, idempotency_key, branch, commit, state, ended_at)
SELECT
    :project, 10 + n, 'many ' || n, 'b/' || n % 500, 'c0ffee',
    CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'passed' END, now()
FROM generate_series(1, 5000) AS n
""")
PENDING = text("""
EXPLAIN SELECT id FROM builds WHERE project_id = 1 AND state = 'pending'
ORDER BY number DESC LIMIT 100
""")
NEWEST = text("""
EXPLAIN SELECT number FROM builds WHERE project_id = 1 AND branch = 'main'
ORDER BY number DESC LIMIT 1
""")


async def test_a_project_stands_at_its_default_branch_else_at_its_newest_build(hand: Hand) -> None:
    first = await hand.open(["a--one"])
    await hand.open(["a--one"], branch="other")
    async with hand.db.transaction() as tx:
        other = await projects.add(tx, "other", "Other", "trunk")
        found = await list_store.at_defaults(tx, [hand.project.id, other.id])
        assert found == {hand.project.id: first}
        await tx.execute(text("UPDATE projects SET default_branch = 'nowhere'"))
        found = await list_store.at_defaults(tx, [hand.project.id, other.id])
    assert [build.number for build in found.values()] == [2]


async def test_nothing_waits_in_a_project_without_a_pending_build(hand: Hand) -> None:
    await hand.run({"a--one": "red"})
    async with hand.db.transaction() as tx:
        assert await list_store.waiting_branches(tx, [hand.project.id, ProjectId(99)]) == {}
        assert await list_store.number_of_builds(tx, hand.project.id) == 1


async def test_builds_are_named_and_deleted_ones_left_out(hand: Hand) -> None:
    build = await hand.open(["a--one"], branch="feature/x")
    async with hand.db.transaction() as tx:
        found = await list_store.named(tx, [build.id, BuildId(99)])
    assert found == {build.id: list_store.NamedBuild("shop", 1, "feature/x", None)}


async def test_a_long_history_is_read_by_index(hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        await tx.execute(MANY, {"project": hand.project.id})
        await tx.execute(text("ANALYZE builds"))
        waiting = await list_store.waiting_branches(tx, [hand.project.id])
        newest = await list_store.branches_page(tx, hand.project.id, text="", before=None, limit=3)
        plans = ["\n".join((await tx.execute(each)).scalars()) for each in (PENDING, NEWEST)]
    assert waiting == {hand.project.id: 10}  # of 100 pending builds, those that are the newest
    assert [build.number for build in newest] == [5010, 5009, 5008]
    assert "ix_builds_pending" in plans[0]
    assert "Index" in plans[1]
