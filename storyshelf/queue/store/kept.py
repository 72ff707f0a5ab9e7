"""How a job that leaves the queue is kept in `jobs_done`, whatever ended it."""

from collections.abc import Mapping

COPIED = (
    *("id", "kind", "lane", "generation", "project_id", "build_id", "priority"),
    *("attempt", "charged", "max_attempts", "dedupe_key", "payload", "enqueued_at", "started_at"),
)


def kept(source: str, ended: Mapping[str, str]) -> str:
    """Return the insert of the rows of `source`, which has the columns of `jobs`, as ended now.

    `ended` gives the other columns, each as an expression over that row.
    """
    columns = ", ".join((*COPIED, *ended, "finished_at"))
    values = ", ".join((*COPIED, *ended.values(), "statement_timestamp()"))
    return f"INSERT INTO jobs_done ({columns}) SELECT {values} FROM {source}"  # noqa: S608  # ours
