"""When a new violation makes a snapshot one that changed, and what is written of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest

from consumer.examined import Examination, Examined, FaultyPlace, FoundBy, Impact, Violation
from consumer.kinds.photograph import Photographer
from consumer.kinds.violations import findings_of
from consumer.messages import Captured, Ending, Page
from consumer.supervisor import CaptureRequest, Child
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.ids import EnvironmentId, SnapshotId, SnapshotKey, StoryId
from storyshelf.queue.job_kind import Work
from storyshelf.snapshots.snapshot import CaptureOptions, PlannedSnapshot, SnapshotResult, Verdict
from storyshelf.snapshots.violations import Findings
from tests.builds.hand import png_of
from tests.consumer.test_photograph import Progress, Sitter
from tests.fakes import FakeClock, MemoryBlobs

OFF, ADDON, RECORD, BLOCK = Accessibility
FAILED = Examined(FoundBy.AXE, "", problem="axe took too long")


def breaking(*targets: str) -> Examined:
    places = tuple(FaultyPlace(target, f"<{target}>", "Fix it") for target in targets)
    broken = (Violation("label", Impact.SERIOUS, "Help", "https://x.test", places),)
    return Examined(FoundBy.AXE, "4.14.1", broken if places else ())


CLEAN, OLD, MORE = breaking(), breaking("old"), breaking("old", "new")


class Examinee(Sitter):
    """A child that shows the same picture in every page, and breaks these rules in turn."""

    def __init__(self, clock: FakeClock, shown: str, *broken: Examined | None) -> None:
        super().__init__(clock, *[shown] * len(broken))
        self._broken = iter(broken)
        self.asked: list[Examination] = []

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        self.asked.append(wanted.examination)
        return replace(await super().capture(wanted, on_stage), examined=next(self._broken))


async def result(
    accessibility: Accessibility,
    baseline: Examined | None,
    *broken: Examined | None,
    base: str | None = "red",
) -> tuple[SnapshotResult, Examinee]:
    """Photograph a story in red beside a baseline that broke those rules."""
    clock, blobs = FakeClock(), MemoryBlobs()
    child = Examinee(clock, "red", *broken)
    planned = PlannedSnapshot(
        id=SnapshotId(7),
        key=SnapshotKey(StoryId("a--one")),
        options=CaptureOptions(accessibility=accessibility),
        crashes=0,
        baseline_id=None if base is None else SnapshotId(3),
        baseline_image=None if base is None else await blobs.put(png_of(base)),
        baseline_findings=None if baseline is None else stored(baseline),
    )
    photographer = Photographer(blobs, clock, EnvironmentId("e1"), timeout_ms=1000)
    work, lent = cast("Work", Progress()), cast("Child", child)
    return await photographer.result_of(lent, planned, work), child


def stored(examined: Examined) -> Findings:
    """Return what the database has of it."""
    story = StoryId("a--one")
    found = findings_of(Captured(1, story, Ending.OK, None, (), 0, 0, {}, examined=examined))
    assert found is not None
    return Findings.parse(found.to_json())


def counts(made: SnapshotResult) -> tuple[int, int, int] | None:
    standing = made.standing
    if standing is None:
        return None
    return len(standing.new), len(standing.still), len(standing.fixed)


@pytest.mark.parametrize(
    ("accessibility", "baseline", "broken", "verdict", "standing"),
    [
        pytest.param(RECORD, OLD, [MORE], Verdict.UNCHANGED, (1, 1, 0), id="recorded only"),
        pytest.param(ADDON, OLD, [MORE], Verdict.UNCHANGED, (1, 1, 0), id="reported only"),
        pytest.param(BLOCK, OLD, [MORE, MORE], Verdict.CHANGED, (1, 1, 0), id="blocked"),
        pytest.param(BLOCK, OLD, [MORE, OLD], Verdict.UNCHANGED, (0, 1, 0), id="not seen again"),
        pytest.param(BLOCK, OLD, [MORE, FAILED], Verdict.UNCHANGED, (1, 1, 0), id="not told again"),
        pytest.param(BLOCK, OLD, [OLD], Verdict.UNCHANGED, (0, 1, 0), id="known"),
        pytest.param(BLOCK, OLD, [CLEAN], Verdict.UNCHANGED, (0, 0, 1), id="fixed"),
        pytest.param(BLOCK, None, [MORE], Verdict.UNCHANGED, None, id="nothing to compare with"),
        pytest.param(BLOCK, OLD, [FAILED], Verdict.UNCHANGED, None, id="not examined"),
        pytest.param(OFF, OLD, [None], Verdict.UNCHANGED, None, id="off"),
    ],
)
async def test_new_violations_change_a_snapshot_where_they_block(
    accessibility: Accessibility,
    baseline: Examined | None,
    broken: list[Examined | None],
    verdict: Verdict,
    standing: tuple[int, int, int] | None,
) -> None:
    made, child = await result(accessibility, baseline, *broken)
    assert (made.verdict, counts(made)) == (verdict, standing)
    assert child.pages == [Page.SWITCHED, Page.FRESH][: len(broken)]
    wanted = {OFF: Examination.OFF, ADDON: Examination.ADDON}.get(accessibility, Examination.AXE)
    assert set(child.asked) == {wanted}
    is_told = "It has 1 new accessibility violation." in made.reason
    assert is_told == (verdict is Verdict.CHANGED)


async def test_a_story_without_a_baseline_breaks_everything_anew() -> None:
    made, _ = await result(BLOCK, None, MORE, base=None)
    assert (made.verdict, counts(made)) == (Verdict.ADDED, (2, 0, 0))
    failed, _ = await result(BLOCK, None, FAILED, base=None)
    assert (failed.verdict, counts(failed)) == (Verdict.ADDED, None)
    (notice,) = failed.warnings
    assert notice.code == "accessibility_failed"
    assert "axe took too long" in notice.text
