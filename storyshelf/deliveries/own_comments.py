"""Finding our comment again among others: by its marker, and by who wrote it."""

from collections.abc import AsyncIterator, Sequence

from storyshelf.deliveries.answers import inside


async def ours(comments: AsyncIterator[object], marker: str, *, by: str) -> Sequence[int]:
    """Return the numbers of our comments, the oldest first; `by` is the field of the author.

    Nobody knows the marker before our first comment, so the first that begins with it is ours. One
    by somebody else is a copy of it; one more by ourselves is what a lost answer left behind.
    """
    found: list[int] = []
    author: object = None
    async for each in comments:
        number = inside(each, "id")
        if not (str(inside(each, "body")).startswith(marker) and isinstance(number, int)):
            continue
        wrote = inside(each, by, "id")
        if not found:
            author = wrote
        if wrote == author:
            found.append(number)
    return found
