"""A project: its builds, filtered and paged."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Action, Who
from storyshelf.builds.build import BuildState
from storyshelf.builds.store import BuildFilter
from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView
from storyshelf.snapshots.steadiness import Steadiness
from storyshelf.ui.view_models.build_line import BuildLine, build_line
from storyshelf.ui.view_models.forms import Option, choices
from storyshelf.ui.view_models.frame import Frame, Place, project_frame
from storyshelf.ui.words import number_of
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class Flaky:
    """A snapshot that does not always hold still."""

    story: str
    score: str
    told: str


@dataclass(frozen=True, slots=True)
class Listed:
    """What was read for the page: a page of builds, and what holds still the least."""

    views: Sequence[BuildView]
    next_cursor: str | None
    flakiest: Sequence[Steadiness] = ()


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A project's builds."""

    title: str
    frame: Frame
    name: str
    default_branch: str
    link: str
    tokens_link: str | None
    text: str
    branch: str
    states: Sequence[Option]
    is_filtered: bool
    builds: Sequence[BuildLine]
    next_link: str | None
    flakiest: Sequence[Flaky]


def project_page(
    named: tuple[Project, Who],
    shown: BuildFilter,
    listed: Listed,
    now: datetime,
) -> ProjectPage:
    """Return what the page says."""
    project, who = named
    link = Links().project(project.slug)
    query = {
        "branch": shown.branch,
        "state": shown.state,
        "q": shown.text,
        "after": listed.next_cursor,
    }
    manages = who.may(Action.MANAGE, project.id)
    return ProjectPage(
        title=f"{project.name} · builds",
        frame=project_frame(project, who, Place.BUILDS),
        name=project.name,
        default_branch=project.default_branch,
        link=link,
        tokens_link=f"{Links().settings(project.slug)}/tokens" if manages else None,
        text=shown.text,
        branch=shown.branch or "",
        states=choices({"": "any"} | {state: state for state in BuildState}, shown.state or ""),
        is_filtered=shown != BuildFilter(),
        builds=[build_line(project.slug, view, now) for view in listed.views],
        next_link=with_query(link, query) if listed.next_cursor else None,
        flakiest=[_flaky(one) for one in listed.flakiest],
    )


def _flaky(one: Steadiness) -> Flaky:
    key = one.key
    moved = f"moved to the end {number_of(one.unstable, 'time')}" if one.unstable else ""
    captures = number_of(one.captures, "capture")
    more = one.needed_more - one.unstable
    again = f"settled again {number_of(more, 'time')}" if more else ""
    return Flaky(
        story=" · ".join(filter(None, (key.story_id, key.mode))),
        score=f"{one.flakiness:.0%}",
        told=f"{' and '.join(filter(None, (moved, again)))}, in {captures}",
    )
