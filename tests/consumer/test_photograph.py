"""What a snapshot's result says, whatever the child sends; the comparison is the real one."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from consumer.comparing import compared
from consumer.death import Cause, ChildDiedError, Death
from consumer.kinds.photograph import Photographer
from consumer.messages import (
    Captured,
    Compare,
    Compared,
    CompareOptions,
    Ending,
    Failed,
    FailureCode,
    OrderDependence,
    Page,
    Size,
)
from consumer.supervisor import CaptureRequest, Child, RequestFailedError
from storyshelf.bundle.isolation import Isolation
from storyshelf.diff.cover import Region
from storyshelf.diff.png import read_header
from storyshelf.ids import BlobKey, EnvironmentId, SnapshotId, SnapshotKey, StoryId
from storyshelf.queue.job_kind import Work
from storyshelf.snapshots.snapshot import (
    CaptureOptions,
    Pixels,
    PlannedSnapshot,
    SnapshotResult,
    Verdict,
)
from storyshelf.snapshots.steadiness import Level
from storyshelf.storage.blobs import FullStorageError, key_of
from tests.builds.hand import png_of
from tests.fakes import FakeClock, MemoryBlobs
from tests.queue.builders import until
from tests.ui.review_build import Drawing

CAPTURE_S, COMPARE_S, STORE_S = 0.4, 0.1, 0.02


class Sitter:
    """A child that shows the given pictures one after the other, each in its time.

    `red then blue` is a capture of a story that moves; `1@20,30` is a spot at that place.
    """

    def __init__(self, clock: FakeClock, *shown: str, found: OrderDependence | None = None) -> None:
        self._clock = clock
        self._found = found
        self._shown = iter(shown)
        self.pages: list[Page] = []

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        await self._clock.advance(CAPTURE_S)
        on_stage()
        self.pages.append(wanted.page)
        *frames, png = [drawn(each) for each in next(self._shown).split(" then ")]
        size = read_header(png)
        sides = (size.width_px, size.height_px)
        still = Captured(1, wanted.story_id, Ending.OK, None, (), *sides, {"shoot": 150.0}, png)
        lengths = tuple(map(len, frames))
        moving = replace(
            still, level=Level.NEVER, shots=7, frames=b"".join(frames), frame_bytes=lengths
        )
        return moving if frames else replace(still, order_dependence=self._found)

    async def compare(self, options: CompareOptions, base: bytes, head: bytes) -> Compared:
        await self._clock.advance(COMPARE_S)
        return compared(Compare(1, options, base, head))


def drawn(shown: str) -> bytes:
    """Return a picture of one colour, or one with spots in it: `9@1,2+9@30,2`."""
    if "@" not in shown:
        return png_of(shown)
    spots = [re.split("[@,]", spot) for spot in shown.split("+")]
    boxes = [(int(x), int(y), int(side), int(side)) for side, x, y in spots]
    return Drawing(200, 100, tuple(boxes)).png


class SlowBlobs(MemoryBlobs):
    """A disk that takes its time to write."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.clock = clock

    async def put(self, content: bytes) -> Any:
        await self.clock.advance(STORE_S)
        return await super().put(content)


class Progress:
    """Counts the signs of progress that a job was given."""

    def __init__(self) -> None:
        self.touched = 0

    def touch(self) -> None:
        self.touched += 1


async def result_of(*shown: str, baseline: str | None) -> tuple[SnapshotResult, Sitter]:
    blobs = SlowBlobs(FakeClock())
    image = None if baseline is None else await blobs.put(png_of(baseline))
    return await result_with(blobs, image, *shown)


async def result_with(
    blobs: "SlowBlobs", image: BlobKey | None, *shown: str
) -> tuple[SnapshotResult, Sitter]:
    sitter = Sitter(blobs.clock, *shown)
    return await result_by(sitter, blobs, image), sitter


async def result_by(
    sitter: Sitter,
    blobs: "SlowBlobs",
    image: BlobKey | None,
    moving: tuple[Region, ...] = (),
    ignored: tuple[Region, ...] = (),
) -> SnapshotResult:
    key = SnapshotKey(StoryId("a--one"))
    planned = PlannedSnapshot(
        SnapshotId(7), key, CaptureOptions(), 0, None, image, moving, baseline_ignored=ignored
    )
    return await photographed(sitter, blobs, planned)


async def photographed(
    sitter: Sitter, blobs: "SlowBlobs", planned: PlannedSnapshot
) -> SnapshotResult:
    photographer = Photographer(blobs, blobs.clock, EnvironmentId("e1"), timeout_ms=1000)
    work = cast("Work", Progress())
    return await photographer.result_of(cast("Child", sitter), planned, work)


async def test_a_first_picture_is_added_and_its_storing_is_timed() -> None:
    result, _ = await result_of("red", baseline=None)
    assert (result.verdict, result.duration_ms) == (Verdict.ADDED, 400)
    assert result.timings_ms == {"shoot": 150.0, "store": 20.0}


async def test_equal_bytes_are_unchanged_without_a_comparison() -> None:
    result, sitter = await result_of("red", baseline="red")
    assert (result.verdict, result.pixels) == (Verdict.UNCHANGED, Pixels.EQUAL)
    assert "compare" not in result.timings_ms
    assert sitter.pages == [Page.SWITCHED]


@pytest.mark.parametrize(
    ("isolation", "baseline", "page"),
    [
        (Isolation.SHARED, None, Page.SHARED),  # nothing could confirm another story's page
        (Isolation.SHARED, "red", Page.SWITCHED),
        (Isolation.STRICT, "red", Page.SHARED),
        (Isolation.FRESH, "red", Page.FRESH),
    ],
)
async def test_a_story_is_shown_in_what_it_asks_for(
    isolation: Isolation, baseline: str | None, page: Page
) -> None:
    blobs = SlowBlobs(FakeClock())
    sitter = Sitter(blobs.clock, "red")
    image = None if baseline is None else await blobs.put(png_of(baseline))
    key, options = SnapshotKey(StoryId("a--one")), CaptureOptions(isolation=isolation)
    await photographed(sitter, blobs, PlannedSnapshot(SnapshotId(7), key, options, 0, None, image))
    assert sitter.pages == [page]


async def test_order_dependence_is_told_with_its_suspect_and_handed_on() -> None:
    blobs = SlowBlobs(FakeClock())
    image = await blobs.put(png_of("red"))
    found = OrderDependence(StoryId("a--before"), ("class dark of html",))
    result = await result_by(Sitter(blobs.clock, "red", found=found), blobs, image)
    (notice,) = result.warnings
    assert notice.code == "order_dependent"
    assert "shown a--before" in notice.text
    assert "Left behind: class dark of html. a--before should clear that away" in notice.text
    assert result.order_dependence is not None
    assert result.order_dependence.suspect == "a--before"


async def test_a_change_is_seen_again_in_a_fresh_page_and_all_of_it_is_timed() -> None:
    result, sitter = await result_of("blue", "blue", baseline="red")
    assert result.verdict is Verdict.CHANGED
    assert sitter.pages == [Page.SWITCHED, Page.FRESH]
    assert result.picture is not None
    assert result.picture.key == key_of(png_of("blue"))
    assert result.mask is not None
    assert result.duration_ms == 400
    assert result.timings_ms == {
        "shoot": 150.0,
        "first_picture": 400.0,
        "compare": 100.0,  # once: the second picture is the first, byte for byte
        "store": 40.0,  # the picture and its mask
    }


async def test_a_difference_that_a_fresh_page_does_not_show_is_none() -> None:
    result, _ = await result_of("blue", "red", baseline="red")
    assert (result.verdict, result.pixels) == (Verdict.UNCHANGED, Pixels.EQUAL)
    assert result.timings_ms["first_picture"] == 400.0


async def test_a_story_of_two_pictures_is_unstable_with_both_kept() -> None:
    result, _ = await result_of("blue", "green", baseline="red")
    assert result.verdict is Verdict.UNSTABLE
    assert [frame.key for frame in result.frames] == [
        key_of(png_of("blue")),
        key_of(png_of("green")),
    ]


async def test_a_baseline_that_was_lost_leaves_the_story_to_be_looked_at() -> None:
    blobs = SlowBlobs(FakeClock())
    lost = key_of(png_of("red"))
    result, _ = await result_with(blobs, lost, "blue")
    assert (result.verdict, result.pixels) == (Verdict.CHANGED, Pixels.DIFFERENT)
    assert "lost or damaged" in result.reason
    assert [warning.code for warning in result.warnings] == ["baseline_lost"]
    assert result.picture is not None
    assert result.picture.key == key_of(png_of("blue"))


async def test_a_baseline_that_was_damaged_is_as_good_as_lost() -> None:
    blobs = SlowBlobs(FakeClock())
    damaged = await blobs.put(png_of("red"))
    blobs.contents[damaged] = png_of("red")[:-40]
    result, _ = await result_with(blobs, damaged, "blue")
    assert (result.verdict, result.diff) == (Verdict.CHANGED, None)
    assert [warning.code for warning in result.warnings] == ["baseline_lost"]


async def test_a_lost_baseline_that_is_seen_again_is_stored_again() -> None:
    blobs = SlowBlobs(FakeClock())
    lost = key_of(png_of("red"))
    result, _ = await result_with(blobs, lost, "red")
    assert result.verdict is Verdict.UNCHANGED
    assert await blobs.read(lost) == png_of("red")


class Liar(Sitter):
    """A child that was taken over: it answers a comparison with a mask of its own making."""

    def __init__(self, clock: FakeClock, lie: Callable[[Compared], Compared]) -> None:
        super().__init__(clock, "blue", "blue")
        self.lie = lie
        self.condemned: list[Cause] = []

    async def compare(self, options: CompareOptions, base: bytes, head: bytes) -> Compared:
        return self.lie(await super().compare(options, base, head))

    def condemn(self, cause: Cause) -> None:
        self.condemned.append(cause)


class Fragile(Sitter):
    """A child that dies of a comparison, or is found dead before the story was begun."""

    def __init__(self, clock: FakeClock, *, shown: tuple[str, ...]) -> None:
        super().__init__(clock, *shown)
        self.is_dead = not shown

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        if self.is_dead:
            raise ChildDiedError(Cause(Death.SIGNAL, "signal SIGKILL"), None)
        return await super().capture(wanted, on_stage)

    async def compare(self, options: CompareOptions, base: bytes, head: bytes) -> Compared:
        raise ChildDiedError(Cause(Death.OUT_OF_MEMORY, "3000 MiB in use"), None)


@pytest.mark.parametrize(("shown", "blamed"), [(("blue",), "a--one"), ((), None)])
async def test_a_death_over_a_storys_picture_is_laid_on_the_story_and_one_before_it_is_not(
    shown: tuple[str, ...], blamed: str | None
) -> None:
    blobs = SlowBlobs(FakeClock())
    image = await blobs.put(png_of("red"))
    with pytest.raises(ChildDiedError) as died:
        await result_by(Fragile(blobs.clock, shown=shown), blobs, image)
    assert died.value.story == blamed


class Refusing(Sitter):
    """A child that cannot carry the request out, and lives on."""

    def __init__(self, clock: FakeClock, code: FailureCode) -> None:
        super().__init__(clock)
        self.code = code
        self.condemned: list[Cause] = []

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        raise RequestFailedError(Failed(1, self.code, "a frame of 3 GB"))

    def condemn(self, cause: Cause) -> None:
        self.condemned.append(cause)


@pytest.mark.parametrize("code", [FailureCode.TOO_LARGE, FailureCode.INTERNAL])
async def test_what_a_story_made_impossible_counts_against_it_and_its_child_is_replaced(
    code: FailureCode,
) -> None:
    blobs = SlowBlobs(FakeClock())
    refusing = Refusing(blobs.clock, code)
    with pytest.raises(ChildDiedError, match="a frame of 3 GB") as died:
        await result_by(refusing, blobs, None)
    assert died.value.story == "a--one"
    assert len(refusing.condemned) == 1


async def test_a_bundle_that_is_not_open_is_no_fault_of_the_story() -> None:
    blobs = SlowBlobs(FakeClock())
    with pytest.raises(RequestFailedError):
        await result_by(Refusing(blobs.clock, FailureCode.NOT_OPEN), blobs, None)


LIES: dict[str, Callable[[Compared], Compared]] = {
    "no picture": lambda told: replace(told, mask=b"<script>alert(1)</script>"),
    "cut": lambda told: replace(told, mask=told.mask[:20]),
    "beside": lambda told: replace(told, mask_x=told.head_size.width),
    "below": lambda told: replace(told, mask_y=told.head_size.height),
    "of nothing": lambda told: replace(told, base_size=Size(0, 0), head_size=Size(0, 0)),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_a_child_that_lies_about_a_mask_is_not_believed_again(
    lie: Callable[[Compared], Compared],
) -> None:
    blobs = SlowBlobs(FakeClock())
    image = await blobs.put(png_of("red"))
    liar = Liar(blobs.clock, lie)
    with pytest.raises(ChildDiedError):
        await result_by(liar, blobs, image)
    assert [cause.how for cause in liar.condemned] == [Death.VIOLATION]


class FullBlobs(SlowBlobs):
    """A disk that has no room for the first few."""

    def __init__(self, clock: FakeClock, refusals: int) -> None:
        super().__init__(clock)
        self.refusals = refusals

    async def put(self, content: bytes) -> Any:
        if self.refusals:
            self.refusals -= 1
            raise FullStorageError
        return await MemoryBlobs.put(self, content)


async def test_a_picture_for_which_there_is_no_room_is_not_taken_again() -> None:
    blobs = FullBlobs(FakeClock(), refusals=3)
    taking = asyncio.create_task(result_with(blobs, None, "red"))
    await until(lambda: blobs.refusals == 2)
    await blobs.clock.advance(60)
    result, sitter = await taking
    assert result.verdict is Verdict.ADDED
    assert sitter.pages == [Page.SHARED]
