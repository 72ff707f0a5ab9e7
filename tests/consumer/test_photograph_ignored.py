"""What a story wants ignored decides no verdict, and is kept with its picture."""

from collections.abc import Callable
from dataclasses import replace

from consumer.messages import Box, Captured
from consumer.supervisor import CaptureRequest
from storyshelf.snapshots.snapshot import Pixels, Verdict
from tests.builds.hand import SIZE_PX, png_of
from tests.consumer.test_photograph import Sitter, SlowBlobs, drawn, result_by
from tests.fakes import FakeClock


class Ticking(Sitter):
    """A child whose pictures have a clock, which is not to be compared."""

    def __init__(self, clock: FakeClock, *shown: str, ignored: Box) -> None:
        super().__init__(clock, *shown)
        self.ignored = ignored

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        return replace(await super().capture(wanted, on_stage), ignored=(self.ignored,))


async def test_what_is_ignored_is_no_change_and_is_kept_with_the_picture() -> None:
    blobs = SlowBlobs(FakeClock())
    baseline = await blobs.put(png_of("red"))
    everything, corner = Box(0, 0, *SIZE_PX), Box(0, 0, 1, 1)
    result = await result_by(Ticking(blobs.clock, "blue", ignored=everything), blobs, baseline)
    assert (result.verdict, result.pixels) == (Verdict.UNCHANGED, Pixels.DIFFERENT)
    assert result.ignored == ((0, 0, *SIZE_PX),)
    assert "1 region is ignored" in result.reason
    changed = Ticking(blobs.clock, "blue", "blue", ignored=corner)
    assert (await result_by(changed, blobs, baseline)).verdict is Verdict.CHANGED


async def test_a_picture_in_which_nothing_is_compared_says_so() -> None:
    blobs = SlowBlobs(FakeClock())
    baseline = await blobs.put(png_of("red"))
    width, height = SIZE_PX
    left, right = Box(0, 0, width - 1, height), Box(width - 1, 0, 1, height)
    rest = ((right.x, right.y, right.width, right.height),)
    results = [
        await result_by(Ticking(blobs.clock, "red", ignored=left), blobs, baseline, *known)
        for known in ((), ((), rest), (rest,))  # nothing; ignored in the baseline; known to move
    ]
    told = [[warning.code for warning in result.warnings] for result in results]
    assert told == [[], ["all_ignored"], ["all_ignored"]]


async def test_what_the_baseline_had_ignored_is_no_change_either() -> None:
    blobs = SlowBlobs(FakeClock())
    baseline = await blobs.put(png_of("red"))
    ignored = ((0, 0, *SIZE_PX),)
    result = await result_by(Sitter(blobs.clock, "blue"), blobs, baseline, ignored=ignored)
    assert (result.verdict, result.ignored) == (Verdict.UNCHANGED, ())


async def test_what_moves_only_where_it_is_ignored_is_not_unstable() -> None:
    blobs = SlowBlobs(FakeClock())
    baseline = await blobs.put(drawn("9@1,2"))
    around, beside = Box(0, 0, 80, 80), Box(100, 0, 80, 80)
    moves = "9@10,2 then 9@20,2 then 9@30,2"
    for image, verdict in ((None, Verdict.ADDED), (baseline, Verdict.UNCHANGED)):
        result = await result_by(Ticking(blobs.clock, moves, ignored=around), blobs, image)
        assert (result.verdict, result.frames) == (verdict, ())
    unstable = await result_by(Ticking(blobs.clock, moves, ignored=beside), blobs, None)
    assert unstable.verdict is Verdict.UNSTABLE
