"""Fills our tables as a year of work does, so that a claim can be timed off them."""

from bench.queue_server import Server
from tests.db.server import on_server

PROJECTS = 200
DONE = """
INSERT INTO jobs_done (
    id, kind, lane, generation, project_id, build_id, priority, state, outcome, attempt, charged,
    max_attempts, consumer_id, lease_token, payload, enqueued_at, started_at, finished_at, wait_ms,
    run_ms
)
SELECT n, 'noop', 'noop', 0, 1 + n % {projects}, 1 + n / 500, 10, 'done', 'completed', 1, 1,
    3, 'bench', gen_random_uuid(), '{{"n": 1}}', at, at, at, 0, 0
FROM (
    SELECT n, now() - n * interval '20 seconds' AS at FROM generate_series(1, {rows}) AS s(n)
) AS ended
"""
ATTEMPTS = """
INSERT INTO job_attempts (
    job_id, attempt, consumer_id, lease_token, outcome, started_at, ended_at
)
SELECT id, 1, consumer_id, lease_token, outcome, started_at, finished_at FROM jobs_done
"""
IDS = "SELECT setval(pg_get_serial_sequence('jobs', 'id'), {rows})"
QUEUED = """
INSERT INTO jobs (
    kind, lane, project_id, build_id, fair_tag, priority, max_attempts, state, payload
)
SELECT 'noop', 'noop', 1 + n % {projects}, 1 + n / {of_a_build}, n / {projects}, 10, 3, 'queued',
    '{{"n": 1}}'
FROM generate_series(1, {rows}) AS s(n)
"""
PROJECT_ROWS = """
INSERT INTO projects (slug, name) SELECT 'project-' || n, 'Project ' || n
FROM generate_series(1, {projects}) AS s(n)
"""
BUILD_ROWS = """
INSERT INTO builds (
    project_id, number, idempotency_key, branch, commit, state, open_shards, planned_generation,
    sealed_at, planned_at
)
SELECT 1 + n % {projects}, 1 + n / {projects}, 'bench-' || n, 'main', md5(n::text), 'capturing',
    500, 1, now(), now()
FROM generate_series(0, {builds} - 1) AS s(n)
"""
TAGS = """
INSERT INTO lane_tags (lane, priority, project_id, last_tag)
SELECT lane, priority, project_id, max(fair_tag) FROM jobs GROUP BY lane, priority, project_id
"""


def fill(url: str, finished: int, queued: int) -> None:
    """Fill the tables with jobs of 200 projects, and bring statistics and pages into order."""
    on_server(
        url,
        DONE.format(rows=finished, projects=PROJECTS),
        ATTEMPTS,
        IDS.format(rows=finished),
    )
    queue_up(url, queued)


def queue_up(url: str, queued: int, of_a_build: int = 500) -> None:
    """Put so many jobs on the lane, dealt round 200 projects as start tags would."""
    on_server(
        url,
        QUEUED.format(rows=queued, projects=PROJECTS, of_a_build=of_a_build),
        TAGS,
        "VACUUM (ANALYZE)",
    )


def full_database(server: Server, finished: int, queued: int) -> str:
    """Make a database of ours that is full, and return its url."""
    url = server.database("ours_full")
    fill(url, finished, queued)
    return url


def captured_builds(url: str, builds: int) -> None:
    """Make 200 projects and so many builds of them that are being captured."""
    on_server(
        url,
        PROJECT_ROWS.format(projects=PROJECTS),
        BUILD_ROWS.format(projects=PROJECTS, builds=builds),
    )
