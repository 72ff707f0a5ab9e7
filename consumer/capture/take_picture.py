"""From a story's id to its picture, step by step; an errored story is shown as it stands."""

from consumer.capture import camera, readiness
from consumer.capture.deadline import Budget
from consumer.capture.examine import examine
from consumer.capture.sitting import Picture, Sitting
from consumer.capture.verdict import judge
from consumer.examined import Examination, Examined
from consumer.messages import Stage, StoryError, WarningCode
from storyshelf.diff.png import read_header


async def take_picture(sitting: Sitting) -> Picture:
    """Show the story and take its picture.

    Raises PageCrashedError, NavigatedAwayError or CallDeadlineError where there is no page left to
    shoot, OutOfTimeError where there is no time.
    """
    laps = _Laps(sitting.budget)
    await sitting.on_stage(Stage.OPENING)
    await _open(sitting)
    laps.done("open")
    await sitting.on_stage(Stage.RENDERING)
    late = await readiness.wait_for_end(sitting)
    laps.done("render")
    await sitting.on_stage(Stage.SETTLING)
    await readiness.settle(sitting)
    await readiness.stop(sitting)
    laps.done("settle")
    await sitting.on_stage(Stage.SHOOTING)
    error = late or await _judged(sitting)
    shot = await camera.take(sitting, error)
    # A throw in an effect may come after Storybook called the story done: what counts is now.
    error = error or await _judged(sitting)
    laps.done("shoot")
    examined = await _examined(sitting, error)
    if examined is not None:
        laps.done("examine")
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
        examined=examined,
    )


async def _examined(sitting: Sitting, error: StoryError | None) -> Examined | None:
    if error is not None or sitting.order.examination is Examination.OFF:
        return None
    await sitting.on_stage(Stage.EXAMINING)
    return await examine(sitting)


async def _open(sitting: Sitting) -> None:
    page, order, budget = sitting.page, sitting.order, sitting.budget
    await page.clean(budget)
    await page.resize(order, order.viewport_height_px, budget)
    await page.dress(order.look, budget)
    await page.show(order, budget)


async def _judged(sitting: Sitting) -> StoryError | None:
    report = await sitting.page.report(sitting.budget)
    for shot in report.undeclared:
        text = f"shot({shot!r}) takes no picture: add the name to parameters.storyshelf.shots"
        sitting.page.watch.warn(WarningCode.UNDECLARED_SHOT, text)
    return judge(report, sitting.order.look.shot)


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
