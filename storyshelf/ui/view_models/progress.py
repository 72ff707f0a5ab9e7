"""How far a build is, and how soon a page should look again."""

from dataclasses import dataclass
from datetime import datetime

from storyshelf.builds.build import Build
from storyshelf.review.read import BuildView, Progress
from storyshelf.ui.words import When, left, rate, when

MIN_REFRESH_S = 2
DECIDED_REFRESH_S = 4  # what another reviewer decides is to be seen while one still looks
ENDED_REFRESH_S = 30  # somebody may have it captured again
MAX_REFRESH_S = 10  # pictures come in all the time; a page that stands still looks dead
STARTING_REFRESH_S = 3  # uploading, queued, planning: nothing to reckon with yet


@dataclass(frozen=True, slots=True)
class ProgressBar:
    """Captures done of those to do, with rate and time left where they are known."""

    done: int
    total: int
    words: str
    pace: str
    reckoned: When | None = None


def progress_bar(build: Build, progress: Progress, now: datetime) -> ProgressBar | None:
    """Return the bar of a build that is being captured."""
    if build.has_ended or progress.total == 0:
        return None
    return ProgressBar(
        done=progress.done,
        total=progress.total,
        words=f"{progress.done:,} of {progress.total:,} captured",
        pace=_pace(progress),
        reckoned=_reckoned(progress, now),
    )


def _reckoned(progress: Progress, now: datetime) -> When | None:
    """Return when the pace was reckoned, of one that is shown."""
    if progress.eta is None or progress.sampled_at is None or progress.done >= progress.total:
        return None
    return when(progress.sampled_at, now)


def _pace(progress: Progress) -> str:
    if progress.done >= progress.total:
        return "the last shards are being closed"
    if progress.eta is None:
        return ""
    return f"{rate(progress.eta.rate_per_s)}, {left(progress.eta)}"


def refresh_after_s(build: Build, view: BuildView) -> int:
    """Return when to look again: half of what is left, and sooner where people may decide."""
    progress, counts = view.progress, view.counts
    if build.has_ended:
        is_reviewed = counts.undecided or counts.accepted or counts.denied
        return DECIDED_REFRESH_S if is_reviewed else ENDED_REFRESH_S
    if progress.eta is None:
        return STARTING_REFRESH_S
    return round(min(MAX_REFRESH_S, max(MIN_REFRESH_S, progress.eta.likely_s / 2)))
