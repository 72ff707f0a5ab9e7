"""Whatever a page says of a story's wishes, its capture can be asked for, stored and read again."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from consumer import messages as m
from consumer.channel import TO_CHILD
from storyshelf.bundle.known_keys import KNOWN_KEYS
from storyshelf.bundle.look import Look
from storyshelf.bundle.parameters import ShotMode, modes_of, parse_parameters
from storyshelf.ids import StoryId

EXTREME: tuple[Any, ...] = (
    *(0, -1, 1, 49, 50, 4_096, 4_097, 2**53, -(2**53), 0.5, 1e-300, 8.64e15, -8.64e15),
    *("", "real", "x" * 200, "de", "Europe/Berlin", "999999-12-31", "-1", "1e309", "NaN"),
    *("\x1b[2J", "\u202e", "\u2028", "a\nb", "</script>", "*", ":is(:is(:is(*)))", "print"),
    *(True, False, None, [], {}, "fresh-context", "shared", "block", "1x1"),
)
VALUES = st.recursive(
    st.sampled_from(EXTREME) | st.floats(allow_nan=False, allow_infinity=False, width=32),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["width", "height", "viewport", "scale", "args", "globals", "\u202e"])
            | st.sampled_from([key.name for key in KNOWN_KEYS]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
WISHES = st.dictionaries(st.sampled_from([key.name for key in KNOWN_KEYS]), VALUES, max_size=8)


def asked(mode: ShotMode, delay_ms: int, checks: str) -> m.Capture:
    viewport, story = mode.viewport, StoryId("a--b")
    size = (viewport.width_px, viewport.height_px, viewport.scale)
    wish = m.Capture(7, story, *size, delay_ms, m.Page.SWITCHED, 30_000, mode.look)
    return replace(wish, checks=checks)


@given(ours=WISHES, others=WISHES)
def test_what_is_understood_of_any_wishes_can_be_asked_of_a_child(
    ours: dict[str, Any], others: dict[str, Any]
) -> None:
    read = parse_parameters(ours, others)
    wished = read.parameters
    for mode in modes_of(wished):
        capture = asked(mode, wished.delay_ms, wished.accessibility.checks)
        assert TO_CHILD.decode(TO_CHILD.encode(capture)[1], b"") == capture
        assert Look.parse(json.loads(json.dumps(mode.look.to_json()))) == mode.look
        assert mode.name.isprintable()
    assert "\0" not in "".join(each.text for each in read.warnings)
