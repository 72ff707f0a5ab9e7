"""The same story is the same bytes: whichever process shoots it, when, after what, beside what."""

import json
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import pytest_asyncio

from consumer.browsers import find_browser, system_search
from consumer.bundle_server import BundleServer
from consumer.capture.browser import LaunchedBrowser
from consumer.isolation import Ground, Isolation, choose_isolation
from consumer.local.storybook import Storybook, choose, read_storybook
from consumer.messages import Page
from consumer.scratch import open_scratch
from consumer.slot_uids import SlotUids, locks_folder
from storyshelf.diff.options import Options
from storyshelf.diff.outcome import Outcome
from storyshelf.diff.verdict import compare_pngs
from storyshelf.ids import BlobKey
from tests.consumer.conftest import ORDER, BuiltStorybook, opener_on
from tests.consumer.rounds import Course, Taken, a_burner_beside, taken
from tests.consumer.test_hazards import AT_REST
from tests.storybook_builds import build_bench, build_example, build_hazards

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
]

SEED = secrets.randbelow(10**6)  # part of what a failure says: an order can be had again
MARKED = 50  # stories that get a pixel of another colour
COVERING = "overlays"  # a modal window lies above everything, the pixel too
# By default a pixel beside an edge may pass for the edge's own: that is the comparison's matter.
STRICT = Options(include_aa=True)
# What moves, or is drawn by chance, unless it is held still.
RESTLESS = [story for story in AT_REST if story.startswith(("hazards-motion", "hazards-chance"))]
PIXEL = """<script>
const place = PLACES[new URLSearchParams(location.search).get("id")];
if (place) document.head.insertAdjacentHTML("beforeend", `<style>html::after { content: "";
  position: absolute; z-index: 2147483647; left: ${place[0]}px; top: ${place[1]}px;
  width: 1px; height: 1px; background: #f0f; }</style>`);
</script></head>"""


def read(folder: Path, wanted: Sequence[str] = ()) -> Storybook:
    storybook = read_storybook(folder, lambda done, total: None)
    return replace(storybook, stories=choose(storybook.stories, wanted))


BOOKS: Mapping[str, Callable[[], Storybook]] = {
    "bench": lambda: read(build_bench()),
    "example": lambda: read(build_example()),
    "restless": lambda: read(build_hazards(), RESTLESS),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def isolation(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Isolation]:
    with open_scratch(tmp_path_factory.mktemp("scratch")) as scratch:
        environ: Mapping[str, str] = {}
        browser = find_browser(None, system_search(environ))
        ground = Ground(browser, scratch, SlotUids(locks_folder()), environ)
        yield await choose_isolation(ground)


# Three rounds of the example, by whole consumers: `tests/flow/test_same_pictures.py`.
@pytest.mark.parametrize(
    ("book", "rounds"),
    [
        *[(book, 3) for book in BOOKS if book != "example"],
        *[pytest.param(book, 10, marks=pytest.mark.long) for book in BOOKS],
    ],
)
async def test_every_story_is_the_same_bytes_in_every_round(
    isolation: Isolation, tmp_path: Path, book: str, rounds: int
) -> None:
    storybook, course = BOOKS[book](), Course(SEED, children=4)
    first = await taken(isolation, storybook, course, tmp_path / "first")
    assert [story for story, each in first.items() if each.fault or not each.png] == []
    for number in range(1, rounds):
        other = Course(SEED + number, children=1 if number % 2 else 4)
        with a_burner_beside():
            again = await taken(isolation, storybook, other, tmp_path / f"{number}")
        assert different(first, again) == [], f"{course} and {other}"


async def test_one_pixel_of_another_colour_is_found_wherever_it_is(
    isolation: Isolation, tmp_path: Path
) -> None:
    course = Course(SEED, children=4)
    every = [story.story_id for story in course.order(read(build_bench()).stories)]
    ids = [story_id for story_id in every if not story_id.startswith(COVERING)][: MARKED + 4]
    bare = await taken(isolation, read(build_bench(), ids), course, tmp_path / "bare")
    marked = read(with_pixels(ids[:MARKED], tmp_path / "book"), ids)
    shown = await taken(isolation, marked, course, tmp_path / "shown")
    found = [story for story in bare if is_changed(bare[story], shown[story])]
    assert set(found) == {f"{story} default" for story in ids[:MARKED]}, f"{course}"
    assert len(different(bare, shown)) == MARKED


@pytest.mark.long
async def test_a_switched_page_shows_what_a_loaded_one_does(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    stories = Course(SEED, children=1).order(read(build_bench()).stories)
    async with opener_on(*launched, tmp_path) as opener:
        stage = await opener(BuiltStorybook(build_bench()))
        loaded = {each.story_id: (await stage.shoot(each.story_id)).png for each in stories}
        shown = {}
        for story_id, png in loaded.items():
            order = replace(ORDER, baseline=BlobKey(sha256(png).hexdigest()))
            shown[story_id] = await stage.shoot(story_id, order=order, page=Page.SWITCHED)
    assert [story for story, png in loaded.items() if shown[story].png != png] == [], SEED
    loaded_again = [story for story in shown if shown[story].page is not Page.SWITCHED]
    assert len(loaded_again) < len(shown) / 2, loaded_again


def different(one: Mapping[str, Taken], other: Mapping[str, Taken]) -> list[str]:
    assert one.keys() == other.keys()
    return [story for story in one if one[story] != other[story]]


def is_changed(base: Taken, head: Taken) -> bool:
    compared = compare_pngs(base.png, head.png, STRICT)
    return compared.outcome is Outcome.CHANGED and compared.raw_px == 1


def with_pixels(stories: Sequence[str], folder: Path) -> Path:
    """Return a copy of the bench's Storybook where each of these shows a pixel somewhere."""
    shutil.copytree(build_bench(), folder)
    drawn = {story: Course(SEED, 1).drawn(story) for story in stories}
    places = {story: [20 + draw[0] % 60, 20 + draw[1] % 20] for story, draw in drawn.items()}
    frame = folder / "iframe.html"
    marking = PIXEL.replace("PLACES", json.dumps(places))
    frame.write_text(frame.read_text().replace("</head>", marking, 1))
    return folder
