"""The comparison once more, pixel by pixel in plain Python: slow, and easy to check by eye."""

from collections.abc import Iterator

from storyshelf.diff.shapes import Pixels

Place = tuple[int, int]
Rgba = tuple[int, int, int, int]


def count_over(base: Pixels, head: Pixels, threshold: float) -> tuple[int, int]:
    """How many pixels of opaque pictures are over the threshold: no edge, and edge."""
    ours, theirs = _Picture(base), _Picture(head)
    changed = edges = 0
    for place in ours.places():
        if distance(ours.at(place), theirs.at(place)) <= 35215 * threshold * threshold:
            continue
        if _is_edge(ours, theirs, place) or _is_edge(theirs, ours, place):
            edges += 1
        else:
            changed += 1
    return changed, edges


class _Picture:
    def __init__(self, pixels: Pixels) -> None:
        self.height, self.width = pixels.shape[:2]
        self.rows = pixels.tolist()

    def at(self, place: Place) -> Rgba:
        r, g, b, a = self.rows[place[1]][place[0]]
        return r, g, b, a

    def places(self) -> Iterator[Place]:
        return ((x, y) for y in range(self.height) for x in range(self.width))

    def around(self, place: Place) -> list[Place]:
        columns = range(max(place[0] - 1, 0), min(place[0] + 2, self.width))
        rows = range(max(place[1] - 1, 0), min(place[1] + 2, self.height))
        return [(x, y) for x in columns for y in rows if (x, y) != place]

    def is_flat(self, place: Place) -> bool:
        around = self.around(place)
        equal = sum(self.at(other) == self.at(place) for other in around)
        return equal + (len(around) < 8) > 2


def _brightness(one: Rgba, other: Rgba) -> float:
    r, g, b = (one[channel] - other[channel] for channel in range(3))
    return r * 0.29889531 + g * 0.58662247 + b * 0.11448223


def distance(one: Rgba, other: Rgba) -> float:
    r, g, b = (one[channel] - other[channel] for channel in range(3))
    y = _brightness(one, other)
    i = r * 0.59597799 - g * 0.27417610 - b * 0.32180189
    q = r * 0.21147017 - g * 0.52261711 + b * 0.31114694
    return 0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q


def _is_edge(image: _Picture, other: _Picture, place: Place) -> bool:
    around = image.around(place)
    if not around:
        return False
    rises = [_brightness(image.at(place), image.at(neighbour)) for neighbour in around]
    if rises.count(0) + (len(around) < 8) > 2 or not min(rises) < 0 < max(rises):
        return False
    extremes = (around[rises.index(min(rises))], around[rises.index(max(rises))])
    return any(image.is_flat(extreme) and other.is_flat(extreme) for extreme in extremes)
