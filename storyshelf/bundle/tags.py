"""Which stories are captured, by the tags that their index gives them.

Storybook takes away what a story was given with `!` (`!test`) when it builds: there are no negative
tags in an index, and a rule that asks for `test` leaves such stories out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_TAG = 60  # characters
SKIP_TAG = "storyshelf-skip"  # a story that is never captured


@dataclass(frozen=True, slots=True)
class TagRule:
    """A tag that a captured story must have, or (`is_banned`) must not."""

    tag: str
    is_banned: bool = False

    @property
    def written(self) -> str:
        """Return it as people write it."""
        return f"!{self.tag}" if self.is_banned else self.tag


SKIPPED = TagRule(SKIP_TAG, is_banned=True)


def parse_rule(word: str) -> TagRule:
    """Read `tag` or `!tag`; raises ValueError with the problem."""
    tag = word.removeprefix("!")
    if not (0 < len(tag) <= MAX_TAG and tag.isprintable()) or "!" in tag:
        msg = f"{word[:MAX_TAG]!r} is not a tag such as test or !experimental"
        raise ValueError(msg)
    return TagRule(tag, is_banned=tag != word)


def why_left_out(tags: Sequence[str], rules: Sequence[TagRule]) -> str:
    """Return the words of the first rule that a story breaks, or nothing."""
    for rule in (SKIPPED, *rules):
        if rule.is_banned and rule.tag in tags:
            return f"it has the tag {rule.tag}"
        if not rule.is_banned and rule.tag not in tags:
            return f"it lacks the tag {rule.tag}"
    return ""
