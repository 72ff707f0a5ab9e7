"""How far a build is, and how soon a page should look again."""

from dataclasses import dataclass

from storyshelf.builds.build import Build
from storyshelf.review.read import Progress
from storyshelf.ui.words import left, rate

MIN_REFRESH_S = 2
MAX_REFRESH_S = 10  # pictures come in all the time; a page that stands still looks dead
STARTING_REFRESH_S = 3  # uploading, queued, planning: nothing to reckon with yet


@dataclass(frozen=True, slots=True)
class ProgressBar:
    """Captures done of those to do, with rate and time left where they are known."""

    done: int
    total: int
    words: str
    pace: str


def progress_bar(build: Build, progress: Progress) -> ProgressBar | None:
    """Return the bar of a build that is being captured."""
    if build.has_ended or progress.total == 0:
        return None
    return ProgressBar(
        done=progress.done,
        total=progress.total,
        words=f"{progress.done:,} of {progress.total:,} captured",
        pace=_pace(progress),
    )


def _pace(progress: Progress) -> str:
    if progress.done >= progress.total:
        return "the last shards are being closed"
    if progress.eta is None:
        return ""
    return f"{rate(progress.eta.rate_per_s)}, {left(progress.eta)}"


def refresh_after_s(build: Build, progress: Progress) -> int | None:
    """Return when to look again, half of what is left; None: nothing will change by itself."""
    if build.has_ended:
        return None
    if progress.eta is None:
        return STARTING_REFRESH_S
    return round(min(MAX_REFRESH_S, max(MIN_REFRESH_S, progress.eta.likely_s / 2)))
