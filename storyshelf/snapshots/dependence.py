"""Stories whose picture depends on what was shown before them: remembered, named, kept apart."""

from storyshelf.snapshots.snapshot import Notice, OrderDependence

PROVEN_BY = 2  # captures: once can be chance
TRIED_AGAIN_AFTER_DAYS = 30  # the suspect may have been mended
NAMED = 3  # things left behind that a sentence tells


def seen(found: OrderDependence) -> Notice:
    """Tell of it where it was just seen."""
    return Notice(
        "order_dependent",
        f"In a page that had shown {found.suspect} it gave another picture; loaded by itself it"
        f" gives this one, which counts. {_left(found)} Seen {PROVEN_BY} times, it is loaded by"
        " itself from then on.",
    )


def kept_apart(found: OrderDependence) -> Notice:
    """Tell why the story has a load of its own from now on."""
    return Notice(
        "order_dependent",
        f"It is loaded by itself, because {PROVEN_BY} times it gave another picture in a page that"
        f" had shown other stories, last {found.suspect}. {_left(found)} A shared page is tried"
        f" again {TRIED_AGAIN_AFTER_DAYS} days after that was last seen.",
    )


def _left(found: OrderDependence) -> str:
    if not found.left:
        return "Nothing was seen to be left behind."
    more = len(found.left) - NAMED
    named = ", ".join(found.left[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"Left behind: {named}. {found.suspect} should clear that away when it ends."
