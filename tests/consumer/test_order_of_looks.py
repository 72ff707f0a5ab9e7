"""The order in which a shard is shot: its page changes seldom; without modes it is as it was."""

from itertools import pairwise

from consumer.kinds.capture import in_order_of_looks
from storyshelf.bundle.look import ColorScheme, Look
from storyshelf.bundle.viewport import Viewport
from storyshelf.ids import SnapshotId, SnapshotKey, StoryId
from storyshelf.snapshots.snapshot import CaptureOptions, PlannedSnapshot

DARK = Look(color_scheme=ColorScheme.DARK)
GERMAN = Look(locale="de-DE")


def planned(number: int, viewport: Viewport, look: Look) -> PlannedSnapshot:
    key = SnapshotKey(StoryId(f"a--{number:02}"))
    return PlannedSnapshot(
        SnapshotId(number), key, CaptureOptions(viewport, look=look), 0, None, None
    )


def changes(shots: list[PlannedSnapshot]) -> int:
    dressed = [(one.options.look, one.options.viewport) for one in shots]
    return sum(one != other for one, other in pairwise(dressed))


def test_stories_without_modes_are_shot_as_they_come() -> None:
    shots = [planned(number, Viewport(), Look()) for number in (3, 1, 2)]
    assert in_order_of_looks(shots) == shots


def test_each_look_and_viewport_is_put_on_once() -> None:
    dresses = [(size, look) for size in (Viewport(), Viewport(320)) for look in (DARK, GERMAN)]
    shots = [planned(number, *dresses[number % 4]) for number in range(20)]
    ordered = in_order_of_looks(shots)
    assert changes(ordered) == len(dresses) - 1
    assert sum(a.options.look.locale != b.options.look.locale for a, b in pairwise(ordered)) == 1
    assert sorted(one.id for one in ordered) == list(range(20))
