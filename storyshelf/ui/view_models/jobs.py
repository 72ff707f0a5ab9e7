"""All jobs of a sort, a page at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from storyshelf.ui.view_models.frame import Tab
from storyshelf.ui.view_models.job_lines import JobLine
from storyshelf.ui.view_models.operations import Section, tabs
from storyshelf.web.links import Links, with_query


class Show(StrEnum):
    """The sorts of jobs."""

    FAILED = "failed"
    QUEUED = "queued"
    DEFERRED = "deferred"
    PARKED = "parked"
    RUNNING = "running"


SORTS: Mapping[Show, str] = {
    Show.FAILED: "Failed",
    Show.QUEUED: "Queued",
    Show.DEFERRED: "Deferred",
    Show.PARKED: "Parked",
    Show.RUNNING: "Running",
}
NOTHING: Mapping[Show, str] = {
    Show.FAILED: "No job has failed",
    Show.QUEUED: "No job is queued",
    Show.DEFERRED: "No job is deferred",
    Show.PARKED: "No job is parked",
    Show.RUNNING: "No job is running",
}
NOTES: Mapping[Show, str] = {
    Show.FAILED: "The latest first.",
    Show.QUEUED: "By lane, in the order in which they are taken.",
    Show.DEFERRED: "Their last try failed, or they are for later; the next one first.",
    Show.PARKED: "Their project runs as many as it may; they follow as its others end.",
    Show.RUNNING: "The oldest first.",
}


@dataclass(frozen=True, slots=True)
class JobsPage:
    """A list of jobs."""

    title: str
    tabs: Sequence[Tab]
    sorts: Sequence[Tab]
    note: str
    nothing: str
    jobs: Sequence[JobLine]
    next_link: str | None


def jobs_page(show: Show, jobs: Sequence[JobLine], next_cursor: str | None) -> JobsPage:
    """Return what the page says."""
    link = f"{Links().operations}/jobs"
    return JobsPage(
        title="Jobs",
        tabs=tabs(Section.JOBS),
        sorts=[Tab(SORTS[each], f"{link}?show={each}", each is show) for each in Show],
        note=NOTES[show],
        nothing=NOTHING[show],
        jobs=jobs,
        next_link=with_query(link, {"show": show, "after": next_cursor}) if next_cursor else None,
    )
