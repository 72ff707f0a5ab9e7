"""A project: its builds, filtered and paged."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.builds.build import BuildState
from storyshelf.builds.store import BuildFilter
from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView
from storyshelf.ui.view_models.build_line import BuildLine, build_line
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a filter."""

    value: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A project's builds."""

    title: str
    name: str
    default_branch: str
    link: str
    branch: str
    states: Sequence[Option]
    is_filtered: bool
    builds: Sequence[BuildLine]
    next_link: str | None


def project_page(
    project: Project,
    shown: BuildFilter,
    views: Sequence[BuildView],
    next_cursor: str | None,
    now: datetime,
) -> ProjectPage:
    """Return what the page says."""
    link = Links().project(project.slug)
    query = {"branch": shown.branch, "state": shown.state, "after": next_cursor}
    return ProjectPage(
        title=f"{project.name} · builds",
        name=project.name,
        default_branch=project.default_branch,
        link=link,
        branch=shown.branch or "",
        states=[Option(state.value, state is shown.state) for state in BuildState],
        is_filtered=shown != BuildFilter(),
        builds=[build_line(project.slug, view, now) for view in views],
        next_link=with_query(link, query) if next_cursor else None,
    )
