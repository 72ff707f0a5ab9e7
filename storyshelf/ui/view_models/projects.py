"""The list of projects: where each stands on its default branch, and what waits for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Action, Who
from storyshelf.ids import ProjectId
from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView
from storyshelf.ui.view_models.build_line import BuildLine, build_line
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class Found:
    """What was read: a page of projects, where each stands, and where the list goes on."""

    projects: Sequence[Project]
    newest: Mapping[ProjectId, BuildView]
    waiting: Mapping[ProjectId, int]  # branches whose newest build is pending
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """One project, with the build it stands at; `elsewhere`: not one of the default branch."""

    name: str
    slug: str
    link: str
    default_branch: str
    last: BuildLine | None
    elsewhere: bool
    waiting: str


@dataclass(frozen=True, slots=True)
class ProjectsPage:
    """The first page of the server."""

    title: str
    link: str
    text: str
    create_link: str | None
    projects: Sequence[ProjectLine]
    next_link: str | None


def projects_page(visitor: Who, found: Found, text: str, now: datetime) -> ProjectsPage:
    """Return what the page says."""
    link = Links().home
    more = {"q": text, "after": found.next_cursor}
    return ProjectsPage(
        title="Projects",
        link=link,
        text=text,
        create_link=Links().new_project if visitor.may(Action.OPERATE, None) else None,
        projects=[_line(project, found, now) for project in found.projects],
        next_link=with_query(link, more) if found.next_cursor else None,
    )


def _line(project: Project, found: Found, now: datetime) -> ProjectLine:
    view = found.newest.get(project.id)
    waiting = found.waiting.get(project.id, 0)
    return ProjectLine(
        name=project.name,
        slug=project.slug,
        link=Links().project(project.slug),
        default_branch=project.default_branch,
        last=None if view is None else build_line(project.slug, view, now),
        elsewhere=view is not None and view.build.branch != project.default_branch,
        waiting=f"{_branches(waiting)} for a decision" if waiting else "",
    )


def _branches(number: int) -> str:
    return "1 branch waits" if number == 1 else f"{number:,} branches wait"
