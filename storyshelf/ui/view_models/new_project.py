"""The form that makes a project, and what is shown once when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.auth.permissions import Who
from storyshelf.auth.tokens import NewToken
from storyshelf.projects.make import NewProject
from storyshelf.projects.project import Project
from storyshelf.ui.view_models.forms import Field, Notice, wrong
from storyshelf.ui.view_models.frame import Frame, Place, project_frame
from storyshelf.ui.view_models.tokens import ShownToken
from storyshelf.web.links import Links


@dataclass(frozen=True, slots=True)
class NewProjectPage:
    """The form."""

    title: str
    link: str
    slug: Field
    name: Field
    default_branch: Field
    notice: Notice | None


@dataclass(frozen=True, slots=True)
class ProjectMadePage:
    """A project that was just made, with its first token."""

    title: str
    frame: Frame
    shown: ShownToken
    link: str
    members_link: str
    connections_link: str


def form_page(typed: NewProject, problems: Mapping[str, str] | None = None) -> NewProjectPage:
    """Return the form with what was typed."""
    wrong_with = problems or {}
    return NewProjectPage(
        title="New project",
        link=Links().new_project,
        slug=Field(
            *("slug", "Slug", typed.slug),
            hint="Its name in links and host names, such as design-system. It stays.",
            error=wrong_with.get("slug", ""),
        ),
        name=Field(
            *("name", "Name", typed.name),
            hint="For people; without one it is called by its slug.",
            error=wrong_with.get("name", ""),
        ),
        default_branch=Field(
            *("default_branch", "Default branch", typed.default_branch),
            hint="Where a new branch's first baselines are from.",
            error=wrong_with.get("default_branch", ""),
        ),
        notice=wrong(wrong_with),
    )


def made_page(project: Project, who: Who, token: NewToken, server: str) -> ProjectMadePage:
    """Return what is said of a new project."""
    settings = Links().settings(project.slug)
    return ProjectMadePage(
        title=project.name,
        frame=project_frame(project, who, Place.BUILDS),
        shown=ShownToken("ci", token.text, server),
        link=Links().project(project.slug),
        members_link=f"{settings}/members",
        connections_link=f"{settings}/connections",
    )
