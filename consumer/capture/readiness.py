"""Waits for the story: for Storybook's own word first, then until the page is at rest.

There is no fixed sleep and no waiting for the network; the one timed wait is the story's own delay.
What has come to rest is not waited for again until something moves it: while Storybook waits for
animations that are over already, the page script brings the story to rest (its `ahead`).
"""

from consumer.capture import beforehand
from consumer.capture.deadline import CALL_S, Budget, CallDeadlineError
from consumer.capture.framing import (
    Edges,
    Frame,
    Measured,
    frame_of,
    frame_of_page,
    frame_of_viewport,
)
from consumer.capture.sitting import Sitting
from consumer.capture.verdict import judge_late
from consumer.messages import MAX_IGNORED, MAX_SIDE_PX, StoryError, WarningCode
from storyshelf.bundle.look import USUAL, USUAL_PADDING_PX, Crop

RENDER_S = 20.0  # until Storybook calls the story done
EVIDENCE_S = 5.0  # kept of the time, for the picture of a story that did not end
ANSWER_S = 2.0  # a page that is not stuck answers a timer of its own in time
PLAY_S = 15.0  # on top, where a play function is still running then
FONTS_S = 5.0
IMAGES_S = 5.0
QUIET_MS = 50  # longer than a frame and a timer of 0 ms; waited only after a change was seen
REST_S = 3.0  # a page that never rests is shot all the same, and says so
SETTLE_S = FONTS_S + 2 * IMAGES_S + REST_S + CALL_S
MAX_GROWTHS = 3  # a list that fills its viewport may need a second look
LATE = {
    WarningCode.FONT_TIMEOUT: f"a font was still loading after {FONTS_S:.0f} s",
    WarningCode.IMAGE_TIMEOUT: f"an image was still loading after {IMAGES_S:.0f} s",
    WarningCode.UNSETTLED: f"the page was still changing after {REST_S:.0f} s",
}


async def wait_for_end(sitting: Sitting) -> StoryError | None:
    """Wait for the story's own end; return why it is errored if that does not come."""
    waited_s = sitting.budget.at_most_keeping(RENDER_S, EVIDENCE_S)
    if await _ended_within(sitting, waited_s):
        return None
    report = await sitting.page.report(sitting.budget)
    if report.phase == "playing":
        play_s = sitting.budget.at_most_keeping(PLAY_S, EVIDENCE_S)
        waited_s += play_s
        if await _ended_within(sitting, play_s):
            return None
        report = await sitting.page.report(sitting.budget)
    return judge_late(report, waited_s)


async def settle(sitting: Sitting) -> None:
    """Bring the page to rest, wait the story's own delay, and make room for all of it."""
    await beforehand.prepare(sitting)
    await rest(sitting)
    delay_s = sitting.order.delay_ms / 1_000
    if delay_s:
        waiting = sitting.budget.clock.sleep(delay_s)
        limit_s = sitting.budget.at_most(delay_s + ANSWER_S)
        await sitting.page.watch.call(waiting, limit_s, "waiting the story's delay")
        await rest(sitting)
    await _make_room(sitting)


async def rest(sitting: Sitting, rest_s: float = REST_S) -> None:
    """Wait for what was asked for, end animations, let changes come to an end."""
    watch, budget = sitting.page.watch, sitting.budget
    images_s = await _wait_for_images(sitting)
    limits = {
        "fontsMs": FONTS_S * 1_000,
        "imagesMs": images_s * 1_000,
        "quietMs": QUIET_MS,
        "restMs": rest_s * 1_000,
    }
    function = "limits => window.__storyshelf__.readiness.settle(limits)"
    late = await sitting.page.ask(function, budget.at_most(SETTLE_S), limits)
    for code, text in LATE.items():
        if isinstance(late, list) and code.value in late:
            watch.warn(code, text)


async def _wait_for_images(sitting: Sitting) -> float:
    """Wait for images and styles, also those only a style asks for; return what time is left."""
    watch, budget = sitting.page.watch, sitting.budget
    images = Budget.of_ms(budget.clock, IMAGES_S * 1_000)
    try:
        await watch.call(watch.styled(), budget.at_most(IMAGES_S), "loading images and styles")
    except CallDeadlineError:
        watch.warn(WarningCode.IMAGE_TIMEOUT, LATE[WarningCode.IMAGE_TIMEOUT])
    return images.left_s()


async def stop(sitting: Sitting) -> None:
    """Let no script draw from here on."""
    function = "() => window.__storyshelf__.readiness.stop()"
    await sitting.page.ask(function, sitting.budget.at_most(CALL_S))


async def frame(sitting: Sitting) -> tuple[Measured, Frame]:
    """Measure the content, and what part of the page the picture is to show."""
    function = "ignored => window.__storyshelf__.framing.box(ignored)"
    ignored = list(sitting.order.look.ignored)
    raw = await sitting.page.ask(function, sitting.budget.at_most(CALL_S), ignored)
    measured = read_measured(raw, sitting)
    match sitting.order.look.crop:
        case Crop.CONTENT:
            return measured, frame_of(measured, sitting.order.scale, _margin_px(sitting))
        case Crop.PAGE:
            return measured, frame_of_page(measured, sitting.order.scale)
        case Crop.VIEWPORT:
            return measured, frame_of_viewport(measured, sitting.order.scale)


def _margin_px(sitting: Sitting) -> int:
    wished = sitting.order.look.padding_px
    return USUAL_PADDING_PX if wished == USUAL else wished


def read_measured(raw: object, sitting: Sitting) -> Measured:
    """Read the page's measures; what is no box on a page counts as none."""
    width_px, height_px = sitting.order.viewport_width_px, sitting.order.viewport_height_px
    fields = raw if isinstance(raw, dict) else {}
    viewport, page = _numbers(fields.get("viewport"), 2), _numbers(fields.get("page"), 2)
    if viewport is not None and 0 < viewport[1] <= MAX_SIDE_PX:
        height_px = int(viewport[1])
    unread = fields.get("unread")
    return Measured(
        edges=_edges(fields.get("box")),
        viewport_width_px=width_px,
        viewport_height_px=height_px,
        ignored=_boxes(fields.get("ignored")),
        page=(0, 0) if page is None else (page[0], page[1]),
        unread=tuple(map(str, unread)) if isinstance(unread, list) else (),
    )


async def _ended_within(sitting: Sitting, limit_s: float) -> bool:
    function = "limitMs => window.__storyshelf__.story.ended(limitMs)"
    return bool(await sitting.page.ask(function, limit_s + ANSWER_S, limit_s * 1_000) == "ended")


async def _make_room(sitting: Sitting) -> None:
    """Make the viewport as tall as the content, unless the content grows with it."""
    given_px = height_px = sitting.order.viewport_height_px
    for _ in range(MAX_GROWTHS):
        _, wanted = await frame(sitting)
        if wanted.bottom <= height_px:
            return
        height_px = wanted.bottom
        await _lay_out(sitting, height_px)
    _, wanted = await frame(sitting)
    if wanted.bottom > height_px:
        await _lay_out(sitting, given_px)


async def _lay_out(sitting: Sitting, height_px: int) -> None:
    await sitting.page.resize(sitting.order, height_px, sitting.budget)
    function = "heightPx => window.__storyshelf__.framing.laidOut(heightPx)"
    await sitting.page.ask(function, sitting.budget.at_most(CALL_S), height_px)
    await rest(sitting)


def _boxes(raw: object) -> tuple[Edges, ...]:
    """Read the boxes of what is ignored: one more than are followed, which tells of too many."""
    boxes = map(_edges, raw[: MAX_IGNORED + 1]) if isinstance(raw, list) else ()
    return tuple(box for box in boxes if box is not None)


def _edges(raw: object) -> Edges | None:
    edges = _numbers(raw, 4)
    if edges is None or not (edges[0] < edges[2] and edges[1] < edges[3]):
        return None
    return edges[0], edges[1], edges[2], edges[3]


def _numbers(raw: object, count: int) -> list[float] | None:
    """Read that many finite numbers of a size that a page can have."""
    if not isinstance(raw, list) or len(raw) != count:
        return None
    # Chromium's layout ends at 3.4e7; a page may also answer with integers that no float holds.
    sane = [float(each) for each in raw if isinstance(each, int | float) and abs(each) < 1e7]  # noqa: PLR2004
    return sane if len(sane) == count else None
