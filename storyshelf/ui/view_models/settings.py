"""The general settings of a project: a form of what is there, or of what was typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storyshelf.auth.permissions import Who
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.isolation import Isolation
from storyshelf.projects.options import OPTIONS, ProjectOptions, StoredValue
from storyshelf.projects.project import Project
from storyshelf.ui.view_models.forms import Field, Notice, Option, choices
from storyshelf.ui.view_models.frame import Frame, Section, settings_frame

NAMES = ("name", "default_branch")
FLAGS = ("cancels_older_builds", "public_storybook", "captures_docs")
LABELS = {
    "name": "Name",
    "default_branch": "Default branch",
    "viewports": "Viewports",
    "diff_threshold": "Difference threshold",
    "padding": "Padding",
    "accepts_branches": "Branches that are accepted by themselves",
    "cancels_older_builds": "An upload ends the branch's older builds that have not ended",
    "public_storybook": "Everybody may see the published Storybook, signed in or not",
    "keep_builds": "Builds to keep of each branch",
    "keep_days": "Days to keep builds",
    "max_running": "Shards captured at once",
    "allowed_hosts": "Hosts that stories may ask",
    "captures_docs": "Docs pages are captured too",
    "story_tags": "Tags of the stories to capture",
    "accessibility": "Accessibility",
    "isolation": "What a story is shown in",
}
HINTS = {
    "name": "For people; links keep the slug.",
    "default_branch": "Where a new branch's first baselines are from.",
    "viewports": "Widths such as 375 or sizes such as 1280x800, for stories that name none of their"
    " own; each is a picture of its own. Without any, stories are shot at 1280x720.",
    "diff_threshold": "How different two pixels' colours may be and still count as equal, 0 to 1.",
    "padding": "Pixels around a story's content in its picture, for stories that say nothing of it."
    " Another number is another picture of each.",
    "accepts_branches": "One a line, such as main or renovate/**: * stops at a slash, ** does not."
    " Stories that could not be rendered are never accepted.",
    "cancels_older_builds": "",
    "public_storybook": "",
    "keep_builds": "A number, or nothing for what the server does.",
    "keep_days": "A number, or nothing for what the server does. What later builds are compared"
    " with is always kept.",
    "max_running": "A number that all consumers together keep to, or nothing for no limit. It holds"
    " for what is uploaded from then on.",
    "allowed_hosts": "One a line, such as fonts.example.com, *.example.com or img.example.com:8443."
    " Without any, stories reach their own Storybook alone. What these hosts answer becomes part of"
    " the pictures: a host that changes its mind changes them.",
    "captures_docs": "",
    "story_tags": "A tag that a story must have, or with ! must not have, such as test or"
    " !experimental; one a line. Other stories are skipped and keep their baselines.",
    "accessibility": "The rules that a story breaks are compared with those that its baseline"
    " breaks: new, fixed or still there.",
    "isolation": "A shared page saves most stories a load. Its picture counts only where it is"
    " the baseline's, byte for byte; whatever differs is loaded by itself and shot again. A"
    " story that depends on others all the same is named in its warnings, and kept apart.",
}
ACCESSIBILITY = {
    Accessibility.OFF.value: "Nothing is recorded",
    Accessibility.ADDON.value: "What Storybook's accessibility addon reports is recorded",
    Accessibility.RECORD.value: "Recorded; axe is run where the addon reports nothing",
    Accessibility.BLOCK.value: "Recorded, and new violations have to be decided",
}
ISOLATIONS = {
    Isolation.SHARED.value: "A page shared with other stories",
    Isolation.STRICT.value: "A load of its own",
    Isolation.FRESH.value: "A browser context of its own, with nothing in its caches",
}


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """A project's general settings; `fields` are by name, as the template lays them out."""

    title: str
    frame: Frame
    link: str
    fields: Mapping[str, Field]
    accessibility: Sequence[Option]
    isolations: Sequence[Option]
    notice: Notice | None


@dataclass(frozen=True, slots=True)
class Typed:
    """What a form sent, and what is wrong with it, both by the fields' names."""

    values: Mapping[str, str]
    problems: Mapping[str, str]


def settings_page(
    project: Project, who: Who, typed: Typed | None, notice: Notice | None
) -> SettingsPage:
    """Return what the page says."""
    frame = settings_frame(project, who, Section.GENERAL)
    values = written(project) if typed is None else typed.values
    problems = {} if typed is None else typed.problems
    return SettingsPage(
        title=f"{project.name} · settings",
        frame=frame,
        link=f"{frame.link}/settings",
        fields={
            name: Field(name, label, values.get(name, ""), HINTS[name], problems.get(name, ""))
            for name, label in LABELS.items()
        },
        accessibility=choices(ACCESSIBILITY, values.get("accessibility", "")),
        isolations=choices(ISOLATIONS, values.get("isolation", "")),
        notice=notice,
    )


def written(project: Project) -> Mapping[str, str]:
    """Return what is there, as a person would type it."""
    stored = project.options.to_json()
    options = {name: _written(value) for name, value in stored.items()}
    return {"name": project.name, "default_branch": project.default_branch, **options}


def _written(value: StoredValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list):
        return "\n".join(value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def option_names() -> Sequence[str]:
    """Return the options that the form has, each of which is one of the project's."""
    assert set(LABELS) - set(NAMES) == set(OPTIONS) == set(ProjectOptions.__slots__)
    return tuple(OPTIONS)
