"""Looks for accessibility faults in a story whose picture is taken, so that it cannot change it.

Storybook's own addon may have looked already; else axe-core does, in a world beside the page's
own: it sees the same elements, but none of the page's scripts, whose fake timers would stall it.
Whatever goes wrong here is told with the results and costs the story nothing; a page that does not
answer any more is not used again.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Error

from consumer.capture.deadline import CALL_S, CallDeadlineError, OutOfTimeError
from consumer.capture.page import part
from consumer.capture.page_watch import (
    NavigatedAwayError,
    PageCrashedError,
    UnreadableAnswerError,
)
from consumer.capture.sitting import Picture, Sitting
from consumer.capture.verdict import plain
from consumer.examined import (
    MAX_LINE,
    MAX_PLACES,
    MAX_RULES,
    Examination,
    Examined,
    FaultyPlace,
    FoundBy,
    Impact,
    Violation,
)
from consumer.messages import Stage
from consumer.parameter_values import MAX_LABEL
from storyshelf.errors import StoryshelfError

AXE = Path(__file__).parent / "vendor" / "axe.js"  # see requirements/vendor.sh
RUN_S = 10.0  # a page that keeps axe busier than this is told so; its picture is there already
WORLD = "storyshelf"
HOSTILE = (NavigatedAwayError, UnreadableAnswerError)
TROUBLE = (PageCrashedError, *HOSTILE, CallDeadlineError, OutOfTimeError, Error)
IMPACTS = {impact.value: impact for impact in Impact}


class MissingAxeError(StoryshelfError):
    """The library that looks for faults is not in the folder it is copied to."""

    def __init__(self) -> None:
        super().__init__(
            "axe-core is missing, so accessibility cannot be examined",
            where="consumer/capture/vendor/axe.js",
            next_step="Run `make setup`: it copies the library from npm's packages.",
        )


async def with_findings(sitting: Sitting, picture: Picture) -> Picture:
    """Return the picture with what was found of its story, which is still shown in the page."""
    if picture.error is not None or sitting.order.examination is Examination.OFF:
        return picture
    clock = sitting.budget.clock
    began = clock.monotonic()
    await sitting.on_stage(Stage.EXAMINING)
    examined = await examine(sitting)
    took_ms = round((clock.monotonic() - began) * 1_000, 1)
    timings_ms = picture.timings_ms | {"examine": took_ms}
    return replace(picture, examined=examined, timings_ms=timings_ms)


async def examine(sitting: Sitting) -> Examined | None:
    """Return what is known of the story's accessibility; None where nobody looked."""
    wanted = sitting.order.examination
    try:
        reported = await _reported(sitting)
        if wanted is Examination.ADDON or (reported is not None and not reported.problem):
            return reported
        return await _run(sitting)
    except TROUBLE as error:
        sitting.page.is_spent = True
        return Examined(FoundBy.AXE, "", problem=plain(str(error), MAX_LINE))
    except MissingAxeError as error:
        return Examined(FoundBy.AXE, "", problem=str(error)[:MAX_LINE])


def read_examined(raw: object, found_by: FoundBy) -> Examined | None:
    """Read what the page says was found, without believing its shape."""
    if not isinstance(raw, Mapping):
        return None
    left = MAX_PLACES
    violations = []
    for each in _entries(raw.get("violations"))[:MAX_RULES]:
        places = tuple(_place(place) for place in _entries(each.get("places"))[:left])
        left -= len(places)
        if places:
            violations.append(_violation(each, places))
    left_out = raw.get("leftOut")
    return Examined(
        found_by,
        engine=plain(raw.get("engine"), MAX_LINE),
        violations=tuple(violations),
        left_out=left_out if type(left_out) is int and 0 <= left_out < 2**31 else 0,
        problem=plain(raw.get("problem"), MAX_LINE),
    )


async def _reported(sitting: Sitting) -> Examined | None:
    function = "id => window.__storyshelf__.accessibility.take(id)"
    limit_s = sitting.budget.at_most(CALL_S)
    raw = await sitting.page.ask(function, limit_s, sitting.order.story_id)
    return read_examined(raw, FoundBy.ADDON)


async def _run(sitting: Sitting) -> Examined | None:
    """Run axe in the world beside, which is made once a document and keeps the library."""
    page, budget = sitting.page, sitting.budget
    tree = await page.send("Page.getFrameTree", {}, budget.at_most(CALL_S))
    asked = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": WORLD}
    made = await page.send("Page.createIsolatedWorld", asked, budget.at_most(CALL_S))
    world = int(made["executionContextId"])
    if not await _evaluated(sitting, world, "typeof axe === 'object'"):
        await _evaluated(sitting, world, f"{_library()}\n;{part('5_accessibility')}\n;0")
    checks = sitting.order.checks or "{}"
    json.loads(checks)  # it becomes part of a script: it must be JSON, whoever wrote it
    return read_examined(
        await _evaluated(sitting, world, f"accessibility.run(axe, {checks})"), FoundBy.AXE
    )


async def _evaluated(sitting: Sitting, world: int, expression: str) -> Any:
    asked = {
        "expression": expression,
        "contextId": world,
        "awaitPromise": True,
        "returnByValue": True,
    }
    answer = await sitting.page.send("Runtime.evaluate", asked, sitting.budget.at_most(RUN_S))
    if details := answer.get("exceptionDetails"):
        said = details.get("exception", {}).get("description") or details.get("text", "")
        return {"problem": str(said).partition("\n")[0]}
    return answer["result"].get("value")


@cache
def _library() -> str:
    if not AXE.is_file():
        raise MissingAxeError
    return AXE.read_text(encoding="utf-8")


def _violation(each: Mapping[str, Any], places: tuple[FaultyPlace, ...]) -> Violation:
    return Violation(
        rule=plain(each.get("rule"), MAX_LABEL),
        impact=IMPACTS.get(str(each.get("impact")), Impact.UNKNOWN),
        help=plain(each.get("help"), MAX_LINE),
        help_url=plain(each.get("helpUrl"), MAX_LINE),
        places=places,
    )


def _place(raw: Mapping[str, Any]) -> FaultyPlace:
    texts = (plain(raw.get(name), MAX_LINE) for name in ("target", "html", "summary"))
    return FaultyPlace(*texts)


def _entries(raw: object) -> list[Mapping[str, Any]]:
    return [each for each in raw if isinstance(each, Mapping)] if isinstance(raw, list) else []
