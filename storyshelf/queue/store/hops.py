"""Which lanes and projects have jobs, found by hopping from each to the next in an index.

`DISTINCT` would read the whole backlog. Each is the text of one recursive part of a WITH, and its
last row is NULL.
"""


def ready_lanes(name: str) -> str:
    """Return the part of that name: the `lane`s that have queued jobs."""
    return _hops(name, "lane", "queued")


def parked_projects(name: str) -> str:
    """Return the part of that name: each `project_id` that has parked jobs."""
    return _hops(name, "project_id", "parked")


def _hops(name: str, column: str, state: str) -> str:
    return f"""{name} AS (
    (SELECT {column} FROM jobs WHERE state = '{state}' ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (
        SELECT j.{column} FROM jobs AS j
        WHERE j.state = '{state}' AND j.{column} > hop.{column} ORDER BY j.{column} LIMIT 1
    )
    FROM {name} AS hop WHERE hop.{column} IS NOT NULL
)"""  # noqa: S608  # constants of this package
