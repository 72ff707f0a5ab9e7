"""From a story's id to its picture, step by step; an errored story is shown as it stands."""

from dataclasses import dataclass, replace

from consumer.capture import camera, readiness
from consumer.capture.aftermath import Aftermath
from consumer.capture.deadline import Budget, CallDeadlineError, OutOfTimeError
from consumer.capture.sitting import Picture, Sitting
from consumer.capture.stability import Shot
from consumer.capture.verdict import Report, judge
from consumer.messages import Page, Stage, StoryError, WarningCode
from storyshelf.diff.png import read_header
from storyshelf.errors import StoryshelfError
from storyshelf.ids import StoryId
from storyshelf.snapshots.steadiness import Level


class KnownEndingError(StoryshelfError):
    """The story is errored, and there is no picture of it."""

    def __init__(self, ending: StoryError) -> None:
        super().__init__(ending.message)
        self.ending = ending


@dataclass(frozen=True, slots=True)
class Glance:
    """What one look at a switched page gave; `left` was there, and `before` was shown just before.

    There is no picture where anything was odd. It `tells` of order dependence, should the story be
    right once it is loaded by itself: it was wrong here, or did not match.
    """

    picture: Picture | None
    left: tuple[str, ...]
    before: StoryId
    tells: bool
    waited_ms: float = 0  # for its end, which did not come

    def is_telling(self, loaded: Picture) -> bool:
        """Tell whether the story's own picture, being right, shows that it depends on others.

        One that only takes long does not, or needs more quiet: here it was not waited for as long.
        """
        if not self.tells or loaded.level is Level.AGAIN:
            return False
        return not self.waited_ms or 2 * loaded.timings_ms.get("render", 0.0) < self.waited_ms


async def take_picture(sitting: Sitting) -> Picture:
    """Load the story and take its picture.

    Raises PageCrashedError, NavigatedAwayError or CallDeadlineError where there is no page left to
    shoot, OutOfTimeError where there is no time, KnownEndingError where it is errored besides.
    """
    laps = _Laps(sitting.budget)
    await sitting.on_stage(Stage.OPENING)
    await _open(sitting)
    laps.done("open")
    late = await _rendered(sitting, laps)
    await sitting.on_stage(Stage.SHOOTING)
    shot_name = sitting.order.look.shot
    error = late or judge(await _report(sitting), shot_name)
    shot = await _shot(sitting, error)
    # A throw in an effect may come after Storybook called the story done: what counts is now.
    error = error or judge(await _report(sitting), shot_name)
    laps.done("shoot")
    return _picture(sitting, shot, error, laps)


async def _shot(sitting: Sitting, error: StoryError | None) -> Shot:
    """Take the picture; where that fails too, what is known already is told instead.

    Raises KnownEndingError, and what `take_picture` does.
    """
    try:
        return await camera.take(sitting, error)
    except (CallDeadlineError, OutOfTimeError) as late:
        if error is None:
            raise
        raise KnownEndingError(error) from late


async def glance(sitting: Sitting, aftermath: Aftermath) -> Glance:
    """Show the story in the page as it is, and take one picture, unless something is odd about it.

    Raises as `take_picture` does.
    """
    page, order = sitting.page, sitting.order
    laps = _Laps(sitting.budget)
    before = page.cast[-1]
    await sitting.on_stage(Stage.OPENING)
    await page.switch(order, sitting.budget)
    laps.done("open")
    late = await _rendered(sitting, laps)
    await sitting.on_stage(Stage.SHOOTING)
    report = await _report(sitting)
    aftermath.found(report.left, before)
    if late or judge(report):
        waited_ms = laps.taken_ms["render"] if late else 0.0
        return Glance(None, report.left, before, tells=True, waited_ms=waited_ms)
    if aftermath.is_harmful(report.left):
        return Glance(None, report.left, before, tells=False)
    shot = await camera.glance(sitting)
    laps.done("shoot")
    picture = _picture(sitting, shot, judge(await _report(sitting)), laps)
    if picture.error or picture.warnings:
        return Glance(None, report.left, before, tells=picture.error is not None)
    return Glance(replace(picture, page=Page.SWITCHED), report.left, before, tells=True)


async def _rendered(sitting: Sitting, laps: "_Laps") -> StoryError | None:
    """Wait for the story and bring its page to rest; return why it did not come to an end."""
    await sitting.on_stage(Stage.RENDERING)
    late = await readiness.wait_for_end(sitting)
    laps.done("render")
    await sitting.on_stage(Stage.SETTLING)
    await sitting.page.park_mouse(sitting.budget)
    await readiness.settle(sitting)
    await readiness.stop(sitting)
    laps.done("settle")
    return late


def _picture(sitting: Sitting, shot: Shot, error: StoryError | None, laps: "_Laps") -> Picture:
    header = read_header(shot.png)
    watch = sitting.page.watch
    return Picture(
        png=shot.png,
        width_px=header.width_px,
        height_px=header.height_px,
        error=error,
        warnings=watch.warnings(),
        timings_ms=laps.taken_ms,
        console=watch.console.lines(),
        level=shot.level,
        shots=shot.shots,
        frames=() if error else shot.frames,
        ignored=shot.ignored,
    )


async def _open(sitting: Sitting) -> None:
    page, order, budget = sitting.page, sitting.order, sitting.budget
    await page.clean(budget, keeps_workers=sitting.is_reloaded)
    await page.resize(order, order.viewport_height_px, budget)
    await page.dress(order.look, budget)
    await page.show(order, budget)


async def _report(sitting: Sitting) -> Report:
    report = await sitting.page.report(sitting.budget)
    for shot in report.undeclared:
        text = f"shot({shot!r}) takes no picture: add the name to parameters.storyshelf.shots"
        sitting.page.watch.warn(WarningCode.UNDECLARED_SHOT, text)
    return report


class _Laps:
    """How long each step took, by the budget's clock."""

    def __init__(self, budget: Budget) -> None:
        self._clock = budget.clock
        self._since = self._clock.monotonic()
        self.taken_ms: dict[str, float] = {}

    def done(self, step: str) -> None:
        now = self._clock.monotonic()
        self.taken_ms[step] = round((now - self._since) * 1_000, 1)
        self._since = now
