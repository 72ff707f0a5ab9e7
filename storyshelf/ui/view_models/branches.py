"""The branches of a project, each with its newest build."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Who
from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView
from storyshelf.ui.view_models.build_line import BuildLine, build_line
from storyshelf.ui.view_models.frame import Frame, Place, project_frame
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class BranchLine:
    """A branch at its newest build."""

    build: BuildLine
    is_default: bool
    builds_link: str
    storybook_link: str | None  # None: not all of its files are here


@dataclass(frozen=True, slots=True)
class BranchesPage:
    """A project's branches."""

    title: str
    frame: Frame
    link: str
    text: str
    branches: Sequence[BranchLine]
    next_link: str | None


def branches_page(
    named: tuple[Project, Who],
    text: str,
    views: Sequence[BuildView],
    next_cursor: str | None,
    now: datetime,
) -> BranchesPage:
    """Return what the page says."""
    project, who = named
    link = Links().branches(project.slug)
    return BranchesPage(
        title=f"{project.name} · branches",
        frame=project_frame(project, who, Place.BRANCHES),
        link=link,
        text=text,
        branches=[_line(project, view, now) for view in views],
        next_link=with_query(link, {"q": text, "after": next_cursor}) if next_cursor else None,
    )


def _line(project: Project, view: BuildView, now: datetime) -> BranchLine:
    links, branch = Links(), view.build.branch
    is_whole = view.build.sealed_at is not None
    return BranchLine(
        build=build_line(project.slug, view, now),
        is_default=branch == project.default_branch,
        builds_link=with_query(links.project(project.slug), {"branch": branch}),
        storybook_link=links.branch_storybook(project.slug, branch) if is_whole else None,
    )
