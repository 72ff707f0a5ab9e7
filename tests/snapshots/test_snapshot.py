"""What a snapshot is captured with, as it is stored and read back."""

import json

from hypothesis import given
from hypothesis import strategies as st

from storyshelf.bundle.parameters import Viewport
from storyshelf.snapshots.snapshot import CaptureOptions

options = st.builds(
    CaptureOptions,
    viewport=st.builds(
        Viewport,
        width_px=st.integers(200, 2560),
        height_px=st.integers(200, 2560),
        scale=st.sampled_from([1.0, 2.0]),
    ),
    delay_ms=st.integers(0, 15_000),
    diff_threshold=st.floats(0, 1),
)


@given(options)
def test_options_survive_being_stored(asked: CaptureOptions) -> None:
    assert CaptureOptions.parse(json.loads(json.dumps(asked.to_json()))) == asked
