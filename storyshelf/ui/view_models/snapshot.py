"""A snapshot: both pictures, what is decided about it, and everything that explains the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Action, Who
from storyshelf.projects.project import Project
from storyshelf.review.read import ExaminedView, ShardView, SnapshotView
from storyshelf.review.strip import Shown, Window
from storyshelf.snapshots.decision import DECIDABLE, Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.snapshots.steadiness import Steadiness
from storyshelf.traces.trace import Trace
from storyshelf.ui.choice import Trail
from storyshelf.ui.signs import DECISION_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.accessibility import AccessibilityNote, accessibility_of
from storyshelf.ui.view_models.cards import variant_of
from storyshelf.ui.view_models.explanation import (
    BaselineNote,
    ConsoleNote,
    Fact,
    FailedRequest,
    Timing,
    baseline_note,
    console_of,
    environment_of,
    facts_of,
    requests_of,
    steadiness_facts,
    timings_of,
    warnings_of,
)
from storyshelf.ui.view_models.filmstrip import Filmstrip, filmstrip
from storyshelf.ui.view_models.pictures import (
    Frame,
    Stage,
    baseline_of,
    frames_of,
    picture_of,
    stage_of,
)
from storyshelf.ui.view_models.trace import May, TraceBox, trace_box
from storyshelf.ui.words import When, when_at_all
from storyshelf.web.links import Links


@dataclass(frozen=True, slots=True)
class Read:
    """What was read around the snapshot; `counts` are of the choice, `waits` is decided next."""

    window: Window
    counts: Mapping[Verdict, Shown]
    waits: SnapshotView | None
    shard: ShardView | None
    facts: Mapping[str, str]
    examined: ExaminedView | None = None
    steadiness: Steadiness | None = None
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the story could not be captured."""

    code: str
    message: str
    stack: str


@dataclass(frozen=True, slots=True)
class DecisionBar:
    """What is decided, and the form that decides."""

    sign: Sign
    by: str
    when: When | None
    may: bool
    link: str
    seen: str
    then: str
    is_accepted: bool
    is_denied: bool


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """One snapshot."""

    title: str
    project_name: str
    project_link: str
    number: int
    build_link: str
    own_link: str
    story_title: str
    story_name: str
    variant: str
    story_link: str
    sign: Sign
    reason: str
    decision: DecisionBar | None
    waiting: str
    commands: Sequence[str]
    stage: Stage
    ahead: Sequence[str]
    strip: Filmstrip
    baseline: BaselineNote
    frames: Sequence[Frame]
    failure: Failure | None
    accessibility: AccessibilityNote | None
    warnings: Sequence[Fact]
    requests: Sequence[FailedRequest]
    console: Sequence[ConsoleNote]
    facts: Sequence[Fact]
    environment: Sequence[Fact]
    timings: Sequence[Timing]
    trace: TraceBox | None
    previous_link: str | None
    next_link: str | None


def snapshot_page(
    project: Project, trail: Trail, read: Read, who: Who, now: datetime
) -> SnapshotPage:
    """Return what the page says of the snapshot in the middle of the window."""
    snapshot, number = read.window.snapshots[read.window.at], trail.number
    links, slug = Links(), project.slug
    before, after = read.window.previous, read.window.next
    return SnapshotPage(
        title=f"{snapshot.title}: {snapshot.name} · build {number} · {project.name}",
        project_name=project.name,
        project_link=links.project(slug),
        number=number,
        build_link=trail.build(),
        own_link=trail.snapshot(snapshot.id),
        story_title=snapshot.title,
        story_name=snapshot.name,
        variant=variant_of(snapshot),
        story_link=_story_link(slug, number, snapshot),
        sign=VERDICT_SIGNS[snapshot.verdict],
        reason=snapshot.reason,
        decision=_decision(project, trail, snapshot, who, now),
        waiting=_waiting(read.counts),
        commands=_commands(number, snapshot),
        stage=stage_of(slug, snapshot),
        ahead=_ahead(slug, read.waits, after),
        strip=filmstrip(read.window, read.counts, trail),
        baseline=baseline_note(slug, snapshot, now),
        frames=frames_of(slug, snapshot),
        failure=_failure(snapshot),
        accessibility=accessibility_of(read.examined),
        warnings=warnings_of(snapshot),
        requests=requests_of(snapshot),
        console=console_of(snapshot),
        facts=[*facts_of(snapshot, read.shard), *steadiness_facts(read.steadiness)],
        environment=environment_of(read.facts),
        timings=timings_of(snapshot.timings_ms),
        trace=trace_box(trail, snapshot, read.trace, _may(project, who), now),
        previous_link=None if before is None else trail.snapshot(before.id),
        next_link=None if after is None else trail.snapshot(after.id),
    )


def _decision(
    project: Project, trail: Trail, snapshot: SnapshotView, who: Who, now: datetime
) -> DecisionBar | None:
    if snapshot.verdict not in DECIDABLE:
        return None
    return DecisionBar(
        sign=DECISION_SIGNS[snapshot.decision],
        by=f"by {snapshot.decided_by}" if snapshot.decided_by else "",
        when=when_at_all(snapshot.decided_at, now),
        may=who.may(Action.DECIDE, project.id),
        link=Links().decisions(trail.slug, trail.number),
        seen=f"{snapshot.id}:{snapshot.decision}",
        then=trail.next,
        is_accepted=snapshot.decision is Decision.ACCEPTED,
        is_denied=snapshot.decision is Decision.DENIED,
    )


def _may(project: Project, who: Who) -> May:
    return May.ASK if who.may(Action.RUN, project.id) else May.LOOK


def _waiting(counts: Mapping[Verdict, Shown]) -> str:
    waiting = sum(shown.undecided for shown in counts.values())
    return f"{waiting:,} to decide" if waiting else "nothing left to decide"


def _ahead(slug: str, *snapshots: SnapshotView | None) -> Sequence[str]:
    """Return the pictures that are looked at next, each once."""
    pictures = [
        picture
        for snapshot in snapshots
        if snapshot is not None
        for picture in (baseline_of(slug, snapshot), picture_of(slug, snapshot))
    ]
    return list(dict.fromkeys(picture.link for picture in pictures if picture is not None))


def _story_link(slug: str, number: int, snapshot: SnapshotView) -> str:
    """Return the story in the published Storybook; one that was removed is not in it."""
    if snapshot.verdict is Verdict.REMOVED:
        return ""
    return Links().storybook(slug, number, f"/story/{snapshot.story_id}")


def _commands(number: int, snapshot: SnapshotView) -> Sequence[str]:
    """Return what to type to decide it, or to take a decision back."""
    if snapshot.verdict not in DECIDABLE:
        return ()
    waits = snapshot.decision is Decision.NONE
    names = ("accept", "deny") if waits else ("undo",)
    return [f"storyshelf {name} {number} {snapshot.id}" for name in names]


def _failure(snapshot: SnapshotView) -> Failure | None:
    error = snapshot.error
    return None if error is None else Failure(error["code"], error["message"], error["stack"])
