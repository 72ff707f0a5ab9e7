"""One story before the camera: what the steps of its capture share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from consumer.capture.deadline import Budget
from consumer.capture.story_page import Order, StoryPage
from consumer.capture.tracing import NOT_ASKED, Trace
from consumer.examined import Examined
from consumer.messages import (
    Box,
    ConsoleLine,
    OrderDependence,
    Page,
    Stage,
    StoryError,
    StoryWarning,
)
from storyshelf.snapshots.steadiness import Level

OnStage = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Sitting:
    """The page, the order and the time that is left for it.

    `is_reloaded` of a story that reloaded its page: the workers that it did so for stay.
    """

    page: StoryPage
    order: Order
    budget: Budget
    on_stage: OnStage
    is_reloaded: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """What came of it; without a picture `png` is empty, and there is an error."""

    png: bytes
    width_px: int
    height_px: int
    error: StoryError | None
    warnings: tuple[StoryWarning, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    console: tuple[ConsoleLine, ...] = ()
    trace: Trace = NOT_ASKED
    page: Page = Page.SHARED
    order_dependence: OrderDependence | None = None
    level: Level = Level.PAIR
    shots: int = 0
    frames: tuple[bytes, ...] = ()
    examined: Examined | None = None
    ignored: tuple[Box, ...] = ()  # what of it is not compared
