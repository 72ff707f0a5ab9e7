"""The list of projects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.ids import ProjectId
from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView
from storyshelf.ui.view_models.build_line import BuildLine, build_line
from storyshelf.web.links import Links


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """One project, with its newest build."""

    name: str
    slug: str
    link: str
    last: BuildLine | None


@dataclass(frozen=True, slots=True)
class ProjectsPage:
    """The first page of the server."""

    title: str
    projects: Sequence[ProjectLine]
    next_link: str | None


def projects_page(
    projects: Sequence[Project],
    newest: Mapping[ProjectId, BuildView],
    next_link: str | None,
    now: datetime,
) -> ProjectsPage:
    """Return what the page says."""
    lines = [
        ProjectLine(
            name=project.name,
            slug=project.slug,
            link=Links().project(project.slug),
            last=build_line(project.slug, newest[project.id], now)
            if project.id in newest
            else None,
        )
        for project in projects
    ]
    return ProjectsPage("Projects", lines, next_link)
