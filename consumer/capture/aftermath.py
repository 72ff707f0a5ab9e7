"""What stories leave behind in a page that several are shown in, and whether it matters.

A picture taken in such a page counts only if its bytes are its baseline's: then nothing that was
left has changed it. So nothing here makes a picture right or wrong. It saves pictures that would
not match, and it names the suspect.

A story that means harm could cover the next one with a copy of that one's baseline. That is the
accepted limit: it is code of the same project, which could also draw its own baseline; no other
project has a page of this origin, and `isolation: "strict"` keeps a project's stories apart.

Everything that is found once a story has gone is tried. If the next picture matches, it is harmless
for good: a style sheet of a library, a theme's class. If pictures beside it do not match, of two
stories that match when loaded by themselves, no other is taken beside it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from consumer.messages import OrderDependence
from storyshelf.ids import StoryId

HURT = 2  # one story may be of a kind that never matches, as one that draws numbers


class Aftermath:
    """What is known of one bundle's leftovers."""

    def __init__(self) -> None:
        self._harmless: set[str] = set()
        self._hurt: Counter[str] = Counter()
        self._left_by: dict[str, StoryId] = {}

    def begin(self) -> None:
        """Start in a new document, in which nothing is left yet."""
        self._left_by.clear()

    def found(self, left: Iterable[str], after: StoryId) -> None:
        """Note what was seen once that story had gone."""
        for thing in left:
            self._left_by.setdefault(thing, after)

    def is_harmful(self, left: Iterable[str]) -> bool:
        """Tell whether a picture beside this would be for nothing."""
        return any(self._hurt[thing] >= HURT for thing in left)

    def did_not_matter(self, left: Iterable[str]) -> None:
        """Learn from a picture that matches."""
        self._harmless.update(left)
        for thing in left:
            self._hurt.pop(thing, None)

    def did_matter(self, left: Sequence[str], before: StoryId) -> OrderDependence:
        """Learn from a picture that matches only by itself; say whose doing that is.

        It is laid on what was not seen to be harmless, else on the story before.
        """
        blamed = [thing for thing in left if thing not in self._harmless]
        self._hurt.update(blamed)
        suspect = self._left_by.get(blamed[0], before) if blamed else before
        return OrderDependence(suspect, tuple(blamed))
