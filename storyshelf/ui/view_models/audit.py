"""What was done: in a project, or on the server as a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storyshelf.audit.store import EventFilter, KeptEvent
from storyshelf.auth.permissions import Who
from storyshelf.builds.list_store import NamedBuild
from storyshelf.ids import BuildId
from storyshelf.projects.project import Project
from storyshelf.ui.view_models.frame import Frame, Place, Tab, project_frame
from storyshelf.ui.view_models.job_lines import Purpose, named_build
from storyshelf.ui.view_models.operations import Section, tabs
from storyshelf.ui.words import When, when
from storyshelf.web.links import Links, with_query

LONGEST_VALUE = 300


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event in the list."""

    at: When
    actor: str
    action: str
    build: Purpose
    details: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A list of events; a project's has a frame, the server's has tabs."""

    title: str
    frame: Frame | None
    tabs: Sequence[Tab]
    link: str
    actor: str
    action: str
    is_filtered: bool
    events: Sequence[EventLine]
    next_link: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """What was read: a page of events, the builds they name, and where the list goes on."""

    events: Sequence[KeptEvent]
    builds: Mapping[BuildId, NamedBuild]
    next_cursor: str | None


def project_audit(
    named: tuple[Project, Who], shown: EventFilter, found: Found, now: datetime
) -> AuditPage:
    """Return what the page of a project says."""
    project, who = named
    link = Links().audit(project.slug)
    frame = project_frame(project, who, Place.AUDIT)
    return _page((f"{project.name} · audit", link), frame, shown, found, now)


def server_audit(shown: EventFilter, found: Found, now: datetime) -> AuditPage:
    """Return what the page of the whole server says."""
    return _page(("Audit", f"{Links().operations}/audit"), None, shown, found, now)


def _page(
    named: tuple[str, str], frame: Frame | None, shown: EventFilter, found: Found, now: datetime
) -> AuditPage:
    title, link = named
    query = {"actor": shown.actor, "action": shown.action, "after": found.next_cursor}
    return AuditPage(
        title=title,
        frame=frame,
        tabs=() if frame else tabs(Section.AUDIT),
        link=link,
        actor=shown.actor,
        action=shown.action,
        is_filtered=bool(shown.actor or shown.action),
        events=[_line(kept, found.builds, now) for kept in found.events],
        next_link=with_query(link, query) if found.next_cursor else None,
    )


def _line(kept: KeptEvent, builds: Mapping[BuildId, NamedBuild], now: datetime) -> EventLine:
    event = kept.event
    return EventLine(
        at=when(kept.at, now),
        actor=event.actor,
        action=event.action,
        build=Purpose() if event.build_id is None else named_build(builds.get(event.build_id)),
        details=[(name.replace("_", " "), _words(value)) for name, value in event.detail.items()],
    )


def _words(value: Any) -> str:
    """Return a detail as it is read; whatever it holds, it stays one line of text."""
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
