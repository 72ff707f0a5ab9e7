"""What stands around each page of a project: its name and its tabs, as the visitor may see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from storyshelf.auth.permissions import Action, Who
from storyshelf.projects.project import Project
from storyshelf.web.links import Links


class Place(StrEnum):
    """The tabs of a project."""

    BUILDS = "Builds"
    BRANCHES = "Branches"
    SETTINGS = "Settings"
    AUDIT = "Audit"


class Section(StrEnum):
    """The tabs of a project's settings."""

    GENERAL = "General"
    TOKENS = "Tokens"
    MEMBERS = "Members"
    CONNECTIONS = "Connections"
    DANGER = "Delete"


@dataclass(frozen=True, slots=True)
class Tab:
    """A link beside others of its kind."""

    name: str
    link: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """A project's name, the tabs of its pages, and those of its settings on a page of these."""

    name: str
    link: str
    tabs: Sequence[Tab]
    sections: Sequence[Tab] = ()


PLACES: Mapping[Place, tuple[str, Action]] = {
    Place.BUILDS: ("", Action.VIEW),
    Place.BRANCHES: ("/branches", Action.VIEW),
    Place.SETTINGS: ("/settings", Action.MANAGE),
    Place.AUDIT: ("/audit", Action.MANAGE),
}
SECTIONS: Mapping[Section, str] = {
    Section.GENERAL: "",
    Section.TOKENS: "/tokens",
    Section.MEMBERS: "/members",
    Section.CONNECTIONS: "/connections",
    Section.DANGER: "/delete",
}


def project_frame(project: Project, who: Who, here: Place, section: Section | None = None) -> Frame:
    """Return the frame of a page at this place; a page of the settings names its section too."""
    link = Links().project(project.slug)
    settings = f"{link}/settings"
    return Frame(
        name=project.name,
        link=link,
        tabs=[
            Tab(place, f"{link}{path}", place is here)
            for place, (path, action) in PLACES.items()
            if who.may(action, project.id)
        ],
        sections=[
            Tab(each, f"{settings}{path}", each is section) for each, path in SECTIONS.items()
        ]
        if section is not None
        else (),
    )


def settings_frame(project: Project, who: Who, section: Section) -> Frame:
    """Return the frame of a page of the settings."""
    return project_frame(project, who, Place.SETTINGS, section)
