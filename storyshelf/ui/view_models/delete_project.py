"""The form that deletes a project, with its slug typed as the confirmation."""

from dataclasses import dataclass

from storyshelf.auth.permissions import Who
from storyshelf.projects.project import Project
from storyshelf.ui.view_models.forms import Field, Notice, wrong
from storyshelf.ui.view_models.frame import Frame, Section, settings_frame


@dataclass(frozen=True, slots=True)
class DeleteProjectPage:
    """What goes, and the form that makes it go."""

    title: str
    frame: Frame
    link: str
    builds: int
    slug: Field
    notice: Notice | None


def delete_project_page(
    project: Project, who: Who, builds: int, typed: str | None = None
) -> DeleteProjectPage:
    """Return the form; with what was typed, where that was not the slug."""
    frame = settings_frame(project, who, Section.DANGER)
    error = "" if typed is None else f"This is not {project.slug}."
    return DeleteProjectPage(
        title=f"{project.name} · delete",
        frame=frame,
        link=f"{frame.link}/settings/delete",
        builds=builds,
        slug=Field("slug", f"Type {project.slug} to confirm", typed or "", error=error),
        notice=wrong({"slug": error}) if error else None,
    )
