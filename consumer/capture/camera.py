"""Takes the picture: the browser's own bytes, shot until the page is seen to hold still."""

import base64
from dataclasses import replace
from typing import Any

from consumer.capture import readiness
from consumer.capture.deadline import CALL_S
from consumer.capture.framing import Frame, Measured, ignored_in
from consumer.capture.patience import Patience
from consumer.capture.sitting import Sitting
from consumer.capture.stability import Ladder, Shot, shoot_until_still
from consumer.codes import ErrorCode, WarningCode
from consumer.messages import MAX_IGNORED, StoryError
from storyshelf.bundle.paths import shown
from storyshelf.snapshots.steadiness import Level

SHOT_S = 20.0  # 16,384 px of page took 2.3 s, and 4 under load


async def take(sitting: Sitting, error: StoryError | None) -> Shot:
    """Shoot the content; an errored story once, as evidence: it is nobody's baseline."""
    if error is not None and error.code is ErrorCode.PLAY_FAILED:
        await _uncover(sitting)
    measured, frame = await readiness.frame(sitting)
    _warn(sitting, measured, frame, error)

    async def shoot() -> bytes:
        return await _one(sitting, measured, frame)

    if error is not None:
        return Shot(await shoot(), Level.PAIR, shots=1)
    patience, order = Patience(sitting), sitting.order

    async def settle_again(quiet_ms: int) -> bool:
        nonlocal measured, frame
        if not await patience.settle_again(quiet_ms):
            return False
        measured, frame = await readiness.frame(sitting)
        return True

    shot = await shoot_until_still(shoot, settle_again, Ladder(order.level, order.baseline))
    if shot.level is Level.NEVER:
        text = f"{shot.shots} pictures, and never two in a row the same"
        sitting.page.watch.warn(WarningCode.UNSETTLED, text)
    return replace(shot, ignored=ignored_in(measured, frame, sitting.order.scale))


async def glance(sitting: Sitting) -> Shot:
    """Shoot the content once: enough where the bytes prove themselves, being the baseline's."""
    measured, frame = await readiness.frame(sitting)
    _warn(sitting, measured, frame, None)
    ignored = ignored_in(measured, frame, sitting.order.scale)
    return Shot(await _one(sitting, measured, frame), Level.FIRST, shots=1, ignored=ignored)


async def _uncover(sitting: Sitting) -> None:
    """Show the story that its play function left: Storybook 8 lays its words on it."""
    function = "() => window.__storyshelf__.framing.uncover()"
    await sitting.page.ask(function, sitting.budget.at_most(CALL_S))
    await readiness.stop(sitting)  # what has another style now is in transition to it


def _warn(sitting: Sitting, measured: Measured, frame: Frame, error: StoryError | None) -> None:
    if measured.edges is None and error is None:
        sitting.page.watch.warn(WarningCode.EMPTY_ROOT, "nothing is drawn: the viewport is shown")
    if frame.cut:
        sitting.page.watch.warn(WarningCode.CLIPPED, frame.cut)
    for selector in measured.unread:
        text = f"ignoreSelectors: {shown(selector)} is no selector that the browser understands"
        sitting.page.watch.warn(WarningCode.BAD_SELECTOR, text)
    if len(measured.ignored) > MAX_IGNORED:
        text = f"more than {MAX_IGNORED} elements are to be ignored: the rest is compared"
        sitting.page.watch.warn(WarningCode.MANY_IGNORED, text)


async def _one(sitting: Sitting, measured: Measured, frame: Frame) -> bytes:
    """Shoot the frame; what lies beyond the viewport is drawn without a new layout."""
    beyond = frame.right > measured.viewport_width_px or frame.bottom > measured.viewport_height_px
    clip = {"x": frame.x, "y": frame.y, "width": frame.width, "height": frame.height, "scale": 1}
    parameters: dict[str, Any] = {"format": "png", "clip": clip, "captureBeyondViewport": beyond}
    limit_s = sitting.budget.at_most(SHOT_S)
    answer = await sitting.page.send("Page.captureScreenshot", parameters, limit_s)
    return base64.b64decode(answer["data"])
