"""The form that deletes a build."""

from collections.abc import Sequence
from dataclasses import dataclass

from storyshelf.builds.build import Build
from storyshelf.projects.project import Project
from storyshelf.web.links import Links

SHOWN = 20  # builds that keep this one; there may be many


@dataclass(frozen=True, slots=True)
class UserLink:
    """A build that is compared with this one."""

    number: int
    link: str


@dataclass(frozen=True, slots=True)
class DeleteBuildPage:
    """What goes; or what keeps it, and then there is no form."""

    title: str
    project_name: str
    project_link: str
    number: int
    build_link: str
    link: str
    has_ended: bool
    users: Sequence[UserLink]
    more_users: int


def delete_build_page(project: Project, build: Build, users: Sequence[int]) -> DeleteBuildPage:
    """Return what the page says; `users` are the numbers of the builds that need this one."""
    links, slug = Links(), project.slug
    here = links.build(slug, build.number)
    return DeleteBuildPage(
        title=f"Delete build {build.number} · {project.name}",
        project_name=project.name,
        project_link=links.project(slug),
        number=build.number,
        build_link=here,
        link=links.delete_build(slug, build.number),
        has_ended=build.has_ended,
        users=[UserLink(number, links.build(slug, number)) for number in users[:SHOWN]],
        more_users=max(0, len(users) - SHOWN),
    )
