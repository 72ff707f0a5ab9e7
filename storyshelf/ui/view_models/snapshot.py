"""A snapshot: both pictures, what changed, and everything that explains the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storyshelf.builds.build import Build
from storyshelf.ids import SnapshotId
from storyshelf.projects.project import Project
from storyshelf.review.read import SnapshotView
from storyshelf.snapshots.decision import DECIDABLE, Decision
from storyshelf.snapshots.snapshot import CaptureOptions
from storyshelf.ui.signs import DECISION_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.cards import variant_of, verdict_link
from storyshelf.ui.view_models.pictures import (
    Frame,
    Image,
    Overlay,
    baseline_of,
    frames_of,
    overlay_of,
    picture_of,
)
from storyshelf.ui.words import When, number_of, span, when_at_all
from storyshelf.web.links import Links

STEPS = ("first_picture", "open", "render", "settle", "shoot", "compare", "store")


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the table below the pictures."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the story could not be captured."""

    code: str
    message: str
    stack: str


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """One snapshot."""

    title: str
    project_name: str
    project_link: str
    number: int
    build_link: str
    story_title: str
    story_name: str
    variant: str
    sign: Sign
    verdict_link: str
    reason: str
    decision: Sign | None
    commands: Sequence[str]
    decided_by: str
    decided: When | None
    baseline_reason: str
    baseline_number: int | None
    baseline_link: str
    stage_width_px: int
    stage_height_px: int
    baseline: Image | None
    picture: Image | None
    overlay: Overlay | None
    frames: Sequence[Frame]
    failure: Failure | None
    warnings: Sequence[Fact]
    facts: Sequence[Fact]
    timings: Sequence[Fact]
    previous_link: str | None
    next_link: str | None


def snapshot_page(
    project: Project,
    build: Build,
    snapshot: SnapshotView,
    beside: tuple[SnapshotId | None, SnapshotId | None],
    now: datetime,
) -> SnapshotPage:
    """Return what the page says."""
    links, slug = Links(), project.slug
    baseline, picture = baseline_of(slug, snapshot), picture_of(slug, snapshot)
    images = [image for image in (baseline, picture) if image is not None]
    before, after = (
        None if one is None else links.snapshot(slug, build.number, one) for one in beside
    )
    of_baseline = None if snapshot.baseline is None else snapshot.baseline.build_number
    return SnapshotPage(
        title=f"{snapshot.title}: {snapshot.name} · build {build.number} · {project.name}",
        project_name=project.name,
        project_link=links.project(slug),
        number=build.number,
        build_link=links.build(slug, build.number),
        story_title=snapshot.title,
        story_name=snapshot.name,
        variant=variant_of(snapshot),
        sign=VERDICT_SIGNS[snapshot.verdict],
        verdict_link=verdict_link(slug, build.number, snapshot.verdict),
        reason=snapshot.reason,
        decision=DECISION_SIGNS[snapshot.decision] if snapshot.verdict in DECIDABLE else None,
        commands=_commands(build, snapshot),
        decided_by=snapshot.decided_by or "",
        decided=when_at_all(snapshot.decided_at, now),
        baseline_reason=snapshot.baseline_reason,
        baseline_number=of_baseline,
        baseline_link=links.build(slug, of_baseline) if of_baseline else "",
        stage_width_px=max((image.width_px for image in images), default=0),
        stage_height_px=max((image.height_px for image in images), default=0),
        baseline=baseline,
        picture=picture,
        overlay=overlay_of(slug, snapshot),
        frames=frames_of(slug, snapshot),
        failure=_failure(snapshot),
        warnings=[Fact(warning["code"], warning["text"]) for warning in snapshot.warnings],
        facts=_facts(snapshot),
        timings=_timings(snapshot.timings_ms),
        previous_link=before,
        next_link=after,
    )


def _commands(build: Build, snapshot: SnapshotView) -> Sequence[str]:
    """Return what to type to decide it, or to take a person's decision back."""
    if snapshot.verdict not in DECIDABLE or build.rule is not None:
        return ()
    waits = snapshot.decision is Decision.NONE
    names = ("accept", "deny") if waits else ("undo",)
    return [f"storyshelf {name} {build.number} {snapshot.id}" for name in names]


def _timings(timings_ms: Mapping[str, float]) -> Sequence[Fact]:
    """Return how long each step took, in the order of the steps; what is no step comes last."""
    known = [name for name in STEPS if name in timings_ms]
    names = [*known, *sorted(timings_ms.keys() - set(STEPS))]
    return [
        Fact(name.removesuffix("_ms").replace("_", " "), span(timings_ms[name] / 1000))
        for name in names
    ]


def _failure(snapshot: SnapshotView) -> Failure | None:
    error = snapshot.error
    return None if error is None else Failure(error["code"], error["message"], error["stack"])


def _facts(snapshot: SnapshotView) -> Sequence[Fact]:
    options = CaptureOptions.parse(snapshot.options)
    viewport = options.viewport
    facts = [
        ("Story", snapshot.story_id),
        ("File", snapshot.import_path),
        ("Viewport", f"{_size(viewport.width_px, viewport.height_px)}, scale {viewport.scale:g}"),
        ("Mode", snapshot.mode),
        ("Browser", snapshot.browser),
        ("Picture", _size(snapshot.width_px, snapshot.height_px)),
        ("Delay", f"{options.delay_ms} ms" if options.delay_ms else ""),
        ("Threshold", f"{options.diff_threshold:g}"),
        *_diff_facts(snapshot.diff),
        ("Environment", snapshot.environment or ""),
        ("Took", "" if snapshot.duration_ms is None else span(snapshot.duration_ms / 1000)),
    ]
    return [Fact(name, value) for name, value in facts if value]


def _diff_facts(diff: Any) -> Sequence[tuple[str, str]]:
    if diff is None:
        return ()
    before, after = tuple(diff["base_size"]), tuple(diff["head_size"])
    return (
        ("Changed", number_of(diff["changed_px"], "pixel")),
        ("Differing at all", number_of(diff["raw_px"], "pixel")),
        ("Regions", str(len(diff["regions"]))),
        ("Size", f"{_size(*before)} → {_size(*after)}" if before != after else ""),
        ("Engine", f"{diff['metric']}, {diff['engine']} {diff['engine_version']}"),
    )


def _size(width_px: int | None, height_px: int | None) -> str:
    return "" if width_px is None else f"{width_px} × {height_px} px"  # noqa: RUF001  # a size
