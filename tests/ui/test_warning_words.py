"""What a warning is called on a page: never by its code."""

from consumer.codes import WarningCode
from storyshelf.ids import StoryId
from storyshelf.snapshots.dependence import kept_apart, seen
from storyshelf.snapshots.snapshot import OrderDependence
from storyshelf.ui.view_models.explanation import BLOCKED, FAILED, IN_WORDS

FOUND = OrderDependence(StoryId("a--first"), ("div#toast in body",))
REQUESTS = {BLOCKED, FAILED}  # shown in a table of their own


def test_every_warning_has_words_for_people() -> None:
    codes = {*map(str, WarningCode), seen(FOUND).code, kept_apart(FOUND).code} - REQUESTS
    assert codes - IN_WORDS.keys() == set()
