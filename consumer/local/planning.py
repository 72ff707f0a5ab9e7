"""What is to be shot: each story in its modes, as its parameters ask; and in which order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from consumer.kinds.violations import EXAMINATIONS
from consumer.local.names import stem_of
from consumer.messages import Page, StoriesRead
from consumer.requests import CaptureRequest
from storyshelf.bundle.accessibility import NO_WISH, Accessibility, AccessibilityWish
from storyshelf.bundle.index import Story
from storyshelf.bundle.parameters import (
    ReadParameters,
    ShotMode,
    StoryParameters,
    Viewport,
    modes_of,
    parse_parameters,
)
from storyshelf.ids import StoryId

DEFAULTS = ReadParameters(StoryParameters())


@dataclass(frozen=True, slots=True)
class Planned:
    """One story in one mode, and the stem of its files' names; `skipped` says why, or nothing."""

    story: Story
    mode: ShotMode
    stem: str
    delay_ms: int
    skipped: str
    warnings: tuple[tuple[str, str], ...]
    accessibility: AccessibilityWish = NO_WISH

    def request(
        self, page: Page, timeout_ms: int, accessibility: Accessibility = Accessibility.OFF
    ) -> CaptureRequest:
        """Return what a child is asked for; where no accessibility is wished, no story is asked."""
        is_off = accessibility is Accessibility.OFF
        wished = accessibility if is_off else self.accessibility.at(accessibility)
        return CaptureRequest(
            story_id=self.story.story_id,
            viewport_width_px=self.mode.viewport.width_px,
            viewport_height_px=self.mode.viewport.height_px,
            scale=self.mode.viewport.scale,
            delay_ms=self.delay_ms,
            page=page,
            timeout_ms=timeout_ms + self.delay_ms,
            look=self.mode.look,
            examination=EXAMINATIONS[wished],
            checks=self.accessibility.checks,
        )


def parameters_of(read: StoriesRead) -> Mapping[StoryId, ReadParameters]:
    """Parse what the loaded bundle says its stories ask for."""
    return {
        StoryId(story.story_id): parse_parameters(story.storyshelf, story.chromatic)
        for story in read.stories
    }


def plan(
    stories: Sequence[Story],
    parameters: Mapping[StoryId, ReadParameters],
    viewport: Viewport,
    named: frozenset[str],
) -> tuple[Planned, ...]:
    """Return what to shoot; a story named by its very id is shot though it says it is not to be.

    The viewport is that of stories that ask for none.
    """
    return tuple(
        planned
        for story in stories
        for planned in _modes(story, parameters.get(story.story_id, DEFAULTS), viewport, named)
    )


def shuffled(planned: Sequence[Planned], number: int) -> tuple[Planned, ...]:
    """Return them in an order of the round's own, the same each time; the first is as it is."""
    if number == 0:
        return tuple(planned)
    return tuple(sorted(planned, key=lambda one: _drawn(one, number)))


def _modes(
    story: Story, read: ReadParameters, viewport: Viewport, named: frozenset[str]
) -> Iterator[Planned]:
    wished = read.parameters
    for mode in modes_of(wished if wished.viewport else replace(wished, viewport=viewport)):
        yield Planned(
            story=story,
            mode=mode,
            stem=stem_of(story.story_id, mode.name),
            delay_ms=wished.delay_ms,
            skipped="" if story.story_id in named else _why_skipped(wished),
            warnings=tuple((one.code, one.text) for one in read.warnings),
            accessibility=wished.accessibility,
        )


def _why_skipped(wished: StoryParameters) -> str:
    if wished.skip_reason:
        return f"It is not captured: {wished.skip_reason}"
    return "Its parameters set disableSnapshot." if wished.disable_snapshot else ""


def _drawn(planned: Planned, number: int) -> bytes:
    return sha256(f"{number} {planned.stem}".encode()).digest()
