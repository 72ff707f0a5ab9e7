"""A build: where it stands and why, how far it is, and its snapshots by verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.projects.project import Project
from storyshelf.review.read import BuildView, ShardView
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.signs import BUILD_SIGNS, VERDICT_SIGNS, Sign
from storyshelf.ui.view_models.build_line import why
from storyshelf.ui.view_models.cards import Group, verdict_link
from storyshelf.ui.view_models.progress import ProgressBar, progress_bar, refresh_after_s
from storyshelf.ui.view_models.shards import ShardLine, shard_lines
from storyshelf.ui.words import When, first_line, short, span, when, when_at_all
from storyshelf.web.links import Links, with_query


@dataclass(frozen=True, slots=True)
class Chip:
    """How many snapshots have a verdict, and the way to see only these."""

    sign: Sign
    count: int
    link: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What of the build's snapshots the page was asked for."""

    verdict: Verdict | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of the build beside its own row."""

    groups: Sequence[Group]
    shards: Sequence[ShardView]
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BuildPage:
    """One build."""

    title: str
    project_name: str
    project_link: str
    number: int
    link: str
    live_link: str
    refresh_s: int | None
    sign: Sign
    why: str
    branch: str
    branch_link: str
    commit: str
    commit_short: str
    headline: str
    message: str
    author: str
    ancestor: int | None
    ancestor_link: str
    environment: str
    facts: Sequence[tuple[str, str]]
    generation: int
    created: When
    ended: When | None
    took: str
    progress: ProgressBar | None
    decided: str
    accept_command: str
    chips: Sequence[Chip]
    is_filtered: bool
    groups: Sequence[Group]
    shards: Sequence[ShardLine]


def build_page(
    project: Project, view: BuildView, shown: Shown, found: Read, now: datetime
) -> BuildPage:
    """Return what the page says."""
    build, links, slug = view.build, Links(), project.slug
    link = links.build(slug, build.number)
    query = {"verdict": shown.verdict, "after": shown.after}
    return BuildPage(
        title=f"{BUILD_SIGNS[build.state].word} · build {build.number} · {project.name}",
        project_name=project.name,
        project_link=links.project(slug),
        number=build.number,
        link=link,
        live_link=with_query(links.live(slug, build.number), query),
        refresh_s=refresh_after_s(build, view.progress),
        sign=BUILD_SIGNS[build.state],
        why=why(build, view.counts),
        branch=build.branch,
        branch_link=with_query(links.project(slug), {"branch": build.branch}),
        commit=build.commit,
        commit_short=short(build.commit),
        headline=first_line(build.message),
        message=_rest(build.message),
        author=build.author or "",
        ancestor=view.ancestor_number,
        ancestor_link=links.build(slug, view.ancestor_number) if view.ancestor_number else "",
        environment=build.environment_id or "",
        facts=sorted(found.facts.items()),
        generation=build.generation,
        created=when(build.created_at, now),
        ended=when_at_all(build.ended_at, now),
        took=_took(build.sealed_at, build.ended_at),
        progress=progress_bar(build, view.progress),
        decided=_decided(view.counts),
        accept_command=f"storyshelf accept {build.number} --all" if view.counts.undecided else "",
        chips=_chips(slug, view, shown.verdict),
        is_filtered=shown.verdict is not None,
        groups=found.groups,
        shards=shard_lines(found.shards, now),
    )


def _chips(slug: str, view: BuildView, current: Verdict | None) -> Sequence[Chip]:
    number = view.build.number
    return [
        Chip(sign, count, verdict_link(slug, number, verdict), verdict is current)
        for verdict, sign in VERDICT_SIGNS.items()
        if (count := view.counts.of(verdict))
    ]


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
