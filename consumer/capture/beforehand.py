"""What a story wants done before it is at rest: an element to wait for, a page to scroll."""

from consumer.capture.deadline import CALL_S
from consumer.capture.sitting import Sitting
from consumer.messages import WarningCode
from storyshelf.bundle.paths import shown

WAIT_S = 10.0  # for an element; a story that wants longer sets a delay besides
KEPT_S = 5.0  # of the time, for the picture of what did not come
SCROLL_S = 5.0  # 100 screens at two frames each took 3.5 s


async def prepare(sitting: Sitting) -> None:
    """Do what this story asks for; most ask for nothing, which costs nothing."""
    if sitting.order.look.scrolls:
        await _scroll(sitting)
    if sitting.order.look.wait_for:
        await _wait(sitting, sitting.order.look.wait_for)


async def _wait(sitting: Sitting, selector: str) -> None:
    limit_s = sitting.budget.at_most_keeping(WAIT_S, KEPT_S)
    function = "([name, limitMs]) => window.__storyshelf__.beforehand.appeared(name, limitMs)"
    asked = [selector, limit_s * 1_000]
    ending = await sitting.page.ask(function, limit_s + CALL_S, asked)
    watch, named = sitting.page.watch, shown(selector)
    if ending == "late":
        text = f"waitFor: nothing that {named} names was visible after {limit_s:.0f} s"
        watch.warn(WarningCode.WAIT_TIMEOUT, text)
    if ending == "unread":
        text = f"waitFor: {named} is no selector that the browser understands"
        watch.warn(WarningCode.BAD_SELECTOR, text)


async def _scroll(sitting: Sitting) -> None:
    limit_s = sitting.budget.at_most(SCROLL_S)
    function = "limitMs => window.__storyshelf__.beforehand.scrolledThrough(limitMs)"
    await sitting.page.ask(function, limit_s + CALL_S, limit_s * 1_000)
