"""What a loaded bundle says its stories ask for, and what it may not say."""

import pytest

from consumer.capture.studio import UnreadableBundleError
from consumer.messages import StoryParameters, StoryWarning, WarningCode
from storyshelf.ids import StoryId
from tests.consumer.conftest import Opener
from tests.consumer.little_storybook import LittleStory, LittleStorybook

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


def asking(parameters: str) -> LittleStory:
    return LittleStory("", parameters=parameters)


async def test_the_known_keys_of_both_vocabularies_are_read(opened: Opener) -> None:
    asked = (
        "{ storyshelf: { delay: 300, viewports: [320, '768', { width: 1200, height: 900 }] },"
        "  chromatic: { disableSnapshot: true, diffThreshold: 0.2, modes: {} } }"
    )
    stage = await opened(LittleStorybook({"a--one": asking(asked), "a--two": asking("{}")}))
    read = await stage.studio.read_stories(10_000)
    assert read.stories == (
        StoryParameters(
            StoryId("a--one"),
            {"delay": 300, "viewports": [320, "768", {"width": 1200, "height": 900}]},
            {"disableSnapshot": True, "diffThreshold": 0.2, "modes": {}},
        ),
        StoryParameters(StoryId("a--two"), {}, {}),
    )
    assert read.failed == ()


async def test_what_cannot_leave_a_page_does_not(opened: Opener) -> None:
    asked = (
        "(() => { const cycle = { delay: () => {}, viewports: [document.body, 'x'.repeat(9999)] };"
        " cycle.cycle = cycle; return { storyshelf: cycle, huge: 'x'.repeat(2e7) }; })()"
    )
    stage = await opened(LittleStorybook({"a--one": asking(asked)}))
    (story,) = (await stage.studio.read_stories(10_000)).stories
    nothing = {"width": "[undefined]", "height": "[undefined]"}
    assert story.storyshelf == {"delay": "[function]", "viewports": [nothing, "x" * 200]}


MODES = """{
  viewport: {
    options: { phone: { name: "Phone", styles: { width: "390px", height: "844px" } } },
    defaultViewport: "phone",
  },
  storyshelf: {
    viewports: ["phone", "nobody", 320],
    modes: {
      dark: { viewport: "phone", colorScheme: "dark", globals: { theme: { name: "dark" } } },
      odd: 7,
      deep: { args: { a: { b: { c: { d: 1 } } } }, call: () => {} },
    },
  },
  argos: { modes: { theirs: { theme: "dark" } } },
}"""
PHONE = {"width": "390px", "height": "844px"}


async def test_modes_leave_a_page_with_their_viewports_looked_up(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--one": asking(MODES)}))
    (story,) = (await stage.studio.read_stories(10_000)).stories
    dark = {"viewport": PHONE, "colorScheme": "dark", "globals": {"theme": {"name": "dark"}}}
    deep = {"args": {"a": {"b": "[object]"}}, "call": "[function]"}
    assert story.storyshelf == {
        "viewports": [PHONE, "nobody", 320],
        "modes": {"dark": dark, "odd": 7, "deep": deep},
    }
    assert story.chromatic == {"viewport": PHONE, "modes": {"theirs": {"theme": "dark"}}}


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("{ percy: { skip: true } }", {"disableSnapshot": True}),
        ("{ happo: false }", {"disableSnapshot": True}),
        ("{ happo: { themes: [] } }", {}),
        ("{ creevey: { skip: { ie: 'no' } } }", {}),
        ("{ chromatic: { disableSnapshot: 'x' } }", {"disableSnapshot": "x"}),
        (
            "{ chromatic: { disableSnapshot: false }, loki: { skip: true } }",
            {"disableSnapshot": False},
        ),
        ("{ screenshot: { delay: 50 }, lostpixel: { waitBeforeScreenshot: 9 } }", {"delay": 50}),
        ("{ lostpixel: { breakpoints: [320, 800] } }", {"viewports": [320, 800]}),
        ("{ percy: { widths: 320 } }", {}),
    ],
)
async def test_other_tools_names_are_read_where_they_mean_the_same(
    opened: Opener, asked: str, read: object
) -> None:
    stage = await opened(LittleStorybook({"a--one": asking(asked)}))
    (story,) = (await stage.studio.read_stories(10_000)).stories
    assert (story.storyshelf, story.chromatic) == ({}, read)


async def test_a_file_that_does_not_load_does_not_hide_the_others(opened: Opener) -> None:
    stories = {
        "bad--file": LittleStory("", broken=True),
        "good--file": asking("{ storyshelf: { delay: 5 } }"),
    }
    stage = await opened(LittleStorybook(stories))
    read = await stage.studio.read_stories(10_000)
    assert [story.story_id for story in read.stories] == ["good--file"]
    text = "bad--file: this file does not load"
    assert read.failed == (StoryWarning(WarningCode.UNREADABLE_FILE, text),)


async def test_a_bundle_without_a_preview_is_refused_in_words(opened: Opener) -> None:
    stage = await opened(LittleStorybook({}, {"iframe.html": b"<p>not a Storybook"}))
    with pytest.raises(UnreadableBundleError, match="did not list its stories"):
        await stage.studio.read_stories(1_500)
