"""How far a command is, as one shape for every stage: hashing, uploading, capturing."""

from dataclasses import dataclass

from storyshelf.client.answers import Build
from storyshelf.client.summary import clean
from storyshelf.client.upload import SentBytes

_UNITS = ("B", "KB", "MB", "GB")
_STEP = 1000


@dataclass(frozen=True, slots=True)
class Step:
    """One stage's position; a total of 0 is a stage whose length is not known yet."""

    name: str
    done: int
    total: int
    detail: str = ""


def step_of_hashing(done: int, total: int) -> Step:
    """Count files that are hashed."""
    return Step("Hashing", done, total, f"{done} of {total} files")


def step_of_sending(sent: SentBytes) -> Step:
    """Count contents that the server has now."""
    weight = f"{size_words(sent.sent_bytes)} of {size_words(sent.total_bytes)}"
    return Step("Uploading", sent.files, sent.total_files, weight)


def step_of_build(build: Build) -> Step:
    """Count snapshots that are done, with the time that is left, or what keeps the build."""
    progress = build.progress
    detail = build.state
    if progress.total:
        detail += f", {progress.done} of {progress.total} snapshots"
    if progress.eta_s is not None and not build.has_ended:
        low, high = _duration(progress.eta_s.low), _duration(progress.eta_s.high)
        detail += f", about {_duration(progress.eta_s.likely)} left ({low} to {high})"
    if build.waits_for is not None and not build.has_ended:
        detail += f": {clean(build.waits_for.what)}"
    return Step(f"Build {build.number}", progress.done, progress.total, detail)


def size_words(size_bytes: int) -> str:
    """Return a size as people read it."""
    value, unit = float(size_bytes), 0
    while value >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
