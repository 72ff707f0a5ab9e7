"""Leaders that die at the worst moments: in a tick, in a rollup, while history is forgotten."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from signal import Signals
from typing import Any

from bench.chaos.hosts import Started
from bench.chaos.leading import DRAINED, EVERY, KEPT, LEAD_S, TICKED, TIMES_AS_FAST
from bench.chaos.world import World
from bench.report import Length
from storyshelf.db.engine import Database
from storyshelf.operations.leader import FOLLOW_EVERY_S, STRETCH
from storyshelf.operations.rollup import roll_up

KILLS = {Length.QUICK: 1, Length.FULL: 5}  # at each place
OLD_JOBS = 2_000  # before each kill in a page of history
FOLLOW_S = FOLLOW_EVERY_S * (1 + STRETCH) / TIMES_AS_FAST
# What a take-over takes at most is the lease and a follower's look; on a busy machine an answer may
# come after the half second that it has here, and then there is another look.
TAKEN_WITHIN_S = LEAD_S + 2 * FOLLOW_S + 2.0

# Each place is made wide enough for a kill: the statement there takes a while. At the commit the
# database goes on without the one who asked for it.
IN_HISTORY, BEFORE_DAYS = "in a page of history", "between hours and days"
PLACES: Mapping[str, str] = {
    "between tick and job": "AFTER INSERT ON ticks FOR EACH ROW",
    "between job and commit": f"AFTER INSERT ON jobs FOR EACH ROW WHEN (NEW.payload ? '{TICKED}')",
    "at the commit": "AFTER INSERT ON ticks DEFERRABLE INITIALLY DEFERRED FOR EACH ROW",
    BEFORE_DAYS: "AFTER INSERT ON job_metrics FOR EACH ROW WHEN (NEW.width = 'hour')",
    "in an hour made again": "AFTER UPDATE ON job_metrics FOR EACH ROW WHEN (NEW.width = 'hour')",
    IN_HISTORY: "AFTER DELETE ON jobs_done FOR EACH STATEMENT",
}
SLOW = """
CREATE FUNCTION chaos_slow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_sleep(0.4); RETURN NULL; END $$
"""
SLEEPS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
LEADS = "SELECT holder FROM leaders WHERE expires_at > statement_timestamp()"
OLD = f"""
WITH old AS (
    INSERT INTO jobs_done (id, kind, lane, generation, priority, state, outcome, attempt, charged,
        max_attempts, payload, enqueued_at, finished_at)
    SELECT n, 'old', 'old', 0, 10, 'done', 'completed', 2, 1, 3, '{{}}',
        now() - interval '{2 * KEPT.total_seconds()} s', now() - interval '{KEPT.total_seconds()} s'
    FROM generate_series($1::int, $2::int) AS n RETURNING id
)
INSERT INTO job_attempts (job_id, attempt, outcome)
SELECT id, n, CASE n WHEN 1 THEN 'retried' ELSE 'completed' END FROM old, generate_series(1, 2) AS n
"""
RESERVE = "SELECT setval(pg_get_serial_sequence('jobs', 'id'), $1)"
HALF = """
SELECT count(*) FROM jobs_done AS d WHERE kind = 'old'
    AND 2 <> (SELECT count(*) FROM job_attempts AS a WHERE a.job_id = d.id)
"""
STRAYS = """
SELECT count(*) FROM job_attempts WHERE job_id NOT IN (SELECT id FROM jobs_done)
    AND job_id NOT IN (SELECT id FROM jobs)
"""
TICKS_IN_PEACE = 3
TICKED_SO_FAR = "SELECT count(*) FROM ticks WHERE task = $1"
TICKS = "SELECT tick, skipped FROM ticks WHERE task = $1 ORDER BY tick"
TICKED_JOBS = f"""
SELECT payload ->> '{TICKED}' AS tick FROM (
    SELECT payload FROM jobs UNION ALL SELECT payload FROM jobs_done) AS j
WHERE payload ? '{TICKED}' ORDER BY 1
"""
SUMS = "SELECT width, CAST(sum(count) AS bigint) AS attempts FROM job_metrics GROUP BY width"


async def killed_leaders(world: World, length: Length) -> Mapping[str, Any]:
    """Kill whoever leads at each place; somebody else follows, and nothing is done twice."""
    await world.ask(SLOW)
    await world.ask(RESERVE, OLD_JOBS * KILLS[length])
    await _start(world, "server")
    await _start(world, "consumer")
    await world.until(lambda: _leader(world), "somebody leads")
    took_s, killed = [], []
    for place in PLACES:
        for nth in range(KILLS[length]):
            victim = await _kill_at(world, place, nth)
            killed.append(victim)
            began = world.clock.monotonic()
            await _start(world, victim.name)
            if await world.until(lambda: _leader(world), "another leads", TAKEN_WITHIN_S):
                took_s.append(world.clock.monotonic() - began)
    await world.until(lambda: _is_forgotten(world), "history was forgotten")
    before = await world.count(TICKED_SO_FAR, TICKED)
    await world.until(lambda: _has_ticked(world, before + TICKS_IN_PEACE), "the last leads on")
    await world.stop_all()
    await world.consume("last")  # does what was enqueued last, and leads nobody
    await world.until_empty()
    ticks = await _expect_ticks_once(world)
    counted = await _expect_sums(world, killed)
    return {
        "kills": len(killed),
        "by": dict(Counter(each.name for each in killed)),
        "taken_over_s": max(took_s, default=0.0),
        "ticks": ticks,
        "attempts_counted": counted,
    }


async def _start(world: World, name: str) -> None:
    """Start a process that may lead; a server claims nothing."""
    if name == "server":
        await world.consume(name, leads=True, lanes={})
    else:
        await world.consume(name, leads=True)


async def _leader(world: World) -> Started | None:
    """Return the process that leads and lives."""
    found = await world.ask(LEADS)
    holder = found[0]["holder"] if found else ""
    named = [each for each in world.alive if holder == f"{each.name}:{each.pid}"]
    return named[0] if named else None


async def _make_work(world: World, place: str, nth: int) -> None:
    """Have the leader something to do there."""
    await world.give(20, 0)  # to be counted
    if place == BEFORE_DAYS:
        await world.ask("DELETE FROM job_metrics WHERE width <> 'minute'")
    if place == IN_HISTORY:
        await world.ask(OLD, nth * OLD_JOBS + 1, (nth + 1) * OLD_JOBS)


async def _kill_at(world: World, place: str, nth: int) -> Started:
    """Have the leader come to the place, and kill it there."""
    event = PLACES[place]
    table = event.split()[3]
    constraint = "CONSTRAINT" if "DEFERRABLE" in event else ""
    await world.ask(
        f"CREATE {constraint} TRIGGER chaos_place {event} EXECUTE FUNCTION chaos_slow()"
    )
    await _make_work(world, place, nth)
    await world.until(lambda: world.count(SLEEPS), f"a leader comes to be {place}")
    victim = await _leader(world)
    assert victim is not None, "only a leader comes there"
    victim.send(Signals.SIGKILL)
    await world.ask(f"DROP TRIGGER chaos_place ON {table}")
    return victim


async def _has_ticked(world: World, ticks: int) -> bool:
    return await world.count(TICKED_SO_FAR, TICKED) >= ticks


async def _is_forgotten(world: World) -> bool:
    half = await world.count(HALF)
    world.expect(half == 0, f"a job and its attempts go together: {half} by halves")
    return await world.count("SELECT count(*) FROM jobs_done WHERE kind = 'old'") == 0


async def _expect_ticks_once(world: World) -> int:
    """Each tick has its row and its one job, or is counted as skipped by the one after it."""
    strays = await world.count(STRAYS)
    world.expect(strays == 0, f"no attempt outlives its job: {strays}")
    rows = await world.ask(TICKS, TICKED)
    gaps = [(later["tick"] - before["tick"]) / EVERY - 1 for before, later in pairwise(rows)]
    told = [row["skipped"] for row in rows[1:]]
    world.expect(gaps == told, f"what was missed is counted: {gaps} is told as {told}")
    ticks = [row["tick"] for row in rows]
    jobs = [datetime.fromisoformat(row["tick"]) for row in await world.ask(TICKED_JOBS)]
    world.expect(jobs == ticks, f"each tick has one job: {set(ticks) ^ set(jobs)}")
    return len(ticks)


async def _expect_sums(world: World, killed: Sequence[Started]) -> int:
    """Minutes, hours and days say the same, and that is what was handed on: once each."""
    db = Database(world.url)
    await roll_up(db)
    await db.close()
    sums = {row["width"]: row["attempts"] for row in await world.ask(SUMS)}
    world.expect(len(set(sums.values())) == 1, f"minutes, hours and days agree: {sums}")
    least, most = _handed_on(world.started, killed)
    world.expect(least <= sums["minute"] <= most, f"{least} to {most} are counted: {sums}")
    return int(sums["minute"])


def _handed_on(started: Sequence[Started], killed: Sequence[Started]) -> tuple[int, int]:
    """Return how many attempts were counted at least, and at most: a kill leaves one flush open."""
    last = {each.diary.path: each.diary.lines(DRAINED)[-1:] for each in started}
    open_ones = {each.diary.path for each in killed}
    most = sum(line["handed"] for lines in last.values() for line in lines)
    open_by = sum(line["handed"] - line["sure"] for path in open_ones for line in last[path])
    return most - open_by, most
