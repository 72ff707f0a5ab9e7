"""A build: where it stands and why, how far it is, and its snapshots to be reviewed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Action, Who
from storyshelf.builds.build import CAPTURED_AGAIN, BuildState
from storyshelf.builds.serving import Obstacle
from storyshelf.deliveries.delivery import Delivery
from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView, ShardView, SnapshotView
from storyshelf.review.strip import LastTaken, Shown
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.choice import Trail
from storyshelf.ui.signs import BUILD_SIGNS, Sign
from storyshelf.ui.view_models.accessibility import violations_in_words
from storyshelf.ui.view_models.build_line import why
from storyshelf.ui.view_models.cards import Group, groups_of
from storyshelf.ui.view_models.deciding import LastDecision, Whole, last_decision, whole_of
from storyshelf.ui.view_models.filters import Filters, filters_of
from storyshelf.ui.view_models.progress import ProgressBar, progress_bar, refresh_after_s
from storyshelf.ui.view_models.shards import ShardLine, shard_lines
from storyshelf.ui.view_models.told import Told, told_of
from storyshelf.ui.words import When, first_line, sentence, short, span, when, when_at_all
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of the build beside its own row, and who reads it.

    `counts` are of the choice with every verdict let in; `next_link` is where a list of one verdict
    goes on.
    """

    who: Who
    snapshots: Sequence[SnapshotView]
    next_link: str | None
    counts: Mapping[Verdict, Shown]
    last: LastTaken | None
    shards: Sequence[ShardView]
    facts: Mapping[str, str]
    deliveries: Sequence[Delivery]


@dataclass(frozen=True, slots=True)
class Doings:
    """What the visitor may do with the build; a link that is not there may not be followed."""

    storybook_link: str | None
    cancel_link: str | None
    again_link: str | None
    shards_link: str | None
    decisions_link: str | None
    delete_link: str | None
    then: str
    whole: Whole | None
    last: LastDecision | None


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why there is no snapshot to see, and what to do next."""

    what: str
    next_step: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class BuildPage:
    """One build."""

    title: str
    project_name: str
    project_link: str
    number: int
    link: str
    live_link: str
    has_ended: bool
    refresh_s: int
    sign: Sign
    why: str
    branch: str
    branch_link: str
    commit: str
    commit_short: str
    headline: str
    message: str
    author: str
    pull_request: int | None
    ancestor: int | None
    deleted_ancestor: int | None
    ancestor_link: str
    environment: str
    facts: Sequence[tuple[str, str]]
    generation: int
    created: When
    ended: When | None
    took: str
    obstacle: Obstacle | None
    planned_again: str
    warnings: Sequence[str]
    progress: ProgressBar | None
    decided: str
    accessibility: str
    accept_command: str
    doings: Doings
    filters: Filters
    groups: Sequence[Group]
    nothing: Nothing | None
    shards: Sequence[ShardLine]
    told: Told | None


def build_page(
    project: Project, trail: Trail, view: BuildView, found: Read, now: datetime
) -> BuildPage:
    """Return what the page says."""
    build, links, slug = view.build, Links(), project.slug
    choice = trail.choice
    live_query = {**choice.query, "after": choice.after}
    groups = groups_of(trail, found.snapshots, found.counts, found.next_link)
    return BuildPage(
        title=f"{BUILD_SIGNS[build.state].word} · build {build.number} · {project.name}",
        project_name=project.name,
        project_link=links.project(slug),
        number=build.number,
        link=links.build(slug, build.number),
        live_link=with_query(links.live(slug, build.number), live_query),
        has_ended=build.has_ended,
        refresh_s=refresh_after_s(build, view),
        sign=BUILD_SIGNS[build.state],
        why=why(build, view.counts),
        branch=build.branch,
        branch_link=with_query(links.project(slug), {"branch": build.branch}),
        commit=build.commit,
        commit_short=short(build.commit),
        headline=first_line(build.message),
        message=_rest(build.message),
        author=build.author or "",
        pull_request=build.pull_request,
        ancestor=view.ancestor_number,
        deleted_ancestor=build.deleted_ancestor,
        ancestor_link=links.build(slug, view.ancestor_number) if view.ancestor_number else "",
        environment=build.environment_id or "",
        facts=sorted(found.facts.items()),
        generation=build.generation,
        created=when(build.created_at, now),
        ended=when_at_all(build.ended_at, now),
        took=_took(build.sealed_at, build.ended_at),
        obstacle=view.obstacle,
        planned_again=sentence(build.replan_reason or ""),
        warnings=build.warnings,
        progress=progress_bar(build, view.progress, now),
        decided=_decided(view.counts),
        accessibility=violations_in_words(view.counts.violations),
        accept_command=f"storyshelf accept {build.number} --all" if view.counts.undecided else "",
        doings=_doings(project, trail, view, found, now),
        filters=filters_of(trail, found.counts),
        groups=groups,
        nothing=None if groups else _nothing(trail, view),
        shards=shard_lines(found.shards, build, now),
        told=told_of(project, found.who, found.deliveries, now),
    )


def _doings(project: Project, trail: Trail, view: BuildView, found: Read, now: datetime) -> Doings:
    build, link, choice = view.build, Links().build(project.slug, view.build.number), trail.choice
    may_run = found.who.may(Action.RUN, project.id)
    may_decide = found.who.may(Action.DECIDE, project.id)
    may_manage = found.who.may(Action.MANAGE, project.id)
    can_again = build.sealed_at is not None and build.state in CAPTURED_AGAIN
    here = {**choice.query, "after": choice.after}
    return Doings(
        storybook_link=Links().storybook(project.slug, build.number) if build.sealed_at else None,
        cancel_link=f"{link}/cancel" if may_run and not build.has_ended else None,
        again_link=f"{link}/capture-again" if may_run and can_again else None,
        shards_link=f"{link}/shards" if may_run else None,
        decisions_link=Links().decisions(project.slug, build.number) if may_decide else None,
        delete_link=Links().delete_build(project.slug, build.number) if may_manage else None,
        then=with_query(link, here),
        whole=whole_of(choice, _chosen(trail, found.counts)) if may_decide else None,
        last=last_decision(found.last, now) if may_decide else None,
    )


def _chosen(trail: Trail, counts: Mapping[Verdict, Shown]) -> Mapping[Verdict, Shown]:
    """Return what the choice leaves in, with those that are errored, to say that they are not."""
    verdict = trail.choice.verdict
    return {one: shown for one, shown in counts.items() if verdict in {"", one}}


def _nothing(trail: Trail, view: BuildView) -> Nothing:
    if any(trail.choice.query.values()):
        return Nothing("No snapshot is like that", "Show all snapshots, or look for another word.")
    return _NOTHING.get(view.build.state, _NEVER_PLANNED)


_NEVER_PLANNED = Nothing(
    "No snapshot was made", "Why not stands above; capture the build again, or send a new one."
)
_NOTHING: dict[BuildState, Nothing] = {
    BuildState.UPLOADING: Nothing(
        "Its files are still on their way",
        "Nothing to do: your CI sends them, and an upload that stops is cancelled.",
    ),
    BuildState.QUEUED: Nothing(
        "No consumer has begun with it yet",
        "Nothing to do while one runs. If none does, start one beside the database:",
        "storyshelf-consumer",
    ),
    BuildState.PLANNING: Nothing(
        "Its stories are being found", "Nothing to do: they are listed here in a moment."
    ),
}


def _decided(counts: Counts) -> str:
    if not (counts.accepted or counts.denied):
        return ""
    return f"{counts.accepted:,} accepted, {counts.denied:,} denied, {counts.undecided:,} undecided"


def _took(sealed_at: datetime | None, ended_at: datetime | None) -> str:
    if sealed_at is None or ended_at is None:
        return ""
    return span((ended_at - sealed_at).total_seconds())


def _rest(message: str | None) -> str:
    """Return what a commit message says below its first line."""
    text = (message or "").strip()
    return text[len(text.split("\n", 1)[0]) :].strip()
