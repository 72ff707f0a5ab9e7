import asyncio
import json
import pickle
import socket
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer import messages as m
from consumer.channel import (
    FROM_CHILD,
    LENGTHS,
    MAX_BODY_FROM_CHILD,
    MAX_HEADER_FROM_CHILD,
    MAX_SIGN,
    TO_CHILD,
    Channel,
    ChannelClosedError,
    ChannelDeadlineError,
    ChannelViolationError,
    child_end,
    parent_end,
)
from storyshelf.bundle.index import MAX_ID_BYTES
from storyshelf.bundle.look import Look, Media
from storyshelf.diff.outcome import Outcome
from storyshelf.ids import BlobKey, StoryId

LOOK = Look(locale="de", media=Media.PRINT, args='{"a": 1}')
STORY = StoryId("button--primary")
KEY = BlobKey("ab" * 32)
CAPTURED = m.Captured(
    id=7,
    story_id=STORY,
    ending=m.Ending.ERRORED,
    error=m.StoryError(m.ErrorCode.RENDER_FAILED, "no", "at x"),
    warnings=(m.StoryWarning(m.WarningCode.DIALOG, "alert: hi"),),
    width_px=3,
    height_px=4,
    timings_ms={"render": 1.5},
    png=b"\x89PNG\x00\xff",
    console=(m.ConsoleLine(m.ConsoleLevel.ERROR, "no data"),),
)
COMPARED = m.Compared(
    id=8,
    outcome=Outcome.CHANGED,
    reason="3 pixels changed",
    base_size=m.Size(10, 10),
    head_size=m.Size(10, 12),
    raw_px=4,
    changed_px=3,
    faint_px=1,
    antialiased_px=2,
    regions=(m.Box(1, 2, 3, 4),),
    engine="yiq-7",
    engine_version="1",
    metric="yiq",
    mask_x=1,
    mask_y=2,
    mask=b"mask",
)
OPTIONS = m.CompareOptions(
    threshold=0.1,
    include_aa=False,
    max_diff_pixels=None,
    max_diff_ratio=0.5,
    faint=m.Faint.COUNTS,
)
FROM_CHILD_MESSAGES: list[m.FromChild] = [
    m.Alive(),
    m.Ready({"kind": "headless-shell"}),
    m.Opened(1, 4_000),
    m.StoriesRead(
        2, (m.StoryParameters(STORY, {"delay": 3, "viewports": [1, "a", {"width": 1}]}, {}),), ()
    ),
    CAPTURED,
    replace(CAPTURED, trace=b"PK"),
    replace(CAPTURED, png=b"", untraced="it has 40 MiB"),
    COMPARED,
    m.StageReached(7, STORY, m.Stage.SHOOTING),
    m.Failed(1, m.FailureCode.NOT_OPEN, "nothing is open"),
]
TO_CHILD_MESSAGES: list[m.ToChild] = [
    m.Open(1, "b12.localhost", "/blobs", (m.BundledFile("iframe.html", KEY),)),
    m.ReadStories(2, 1_000),
    m.Capture(3, STORY, 1280, 720, 1.0, 0, m.Page.FRESH, 30_000),
    m.Capture(4, STORY, 320, 568, 2.0, 0, m.Page.SHARED, 30_000, LOOK),
    m.Compare(4, OPTIONS, b"base", b"the head"),
    m.Close(5),
]
Pair = tuple[Channel[m.FromChild, m.ToChild], Channel[m.ToChild, m.FromChild]]


@pytest.fixture
async def ends() -> AsyncIterator[Pair]:
    ours, theirs = socket.socketpair()
    parent, child = await parent_end(ours), await child_end(theirs)
    yield parent, child
    await parent.close()
    await child.close()


@pytest.fixture
async def raw() -> AsyncIterator[tuple[Channel[m.FromChild, m.ToChild], asyncio.StreamWriter]]:
    """A parent's end, and the bare stream of a child that may say anything."""
    ours, theirs = socket.socketpair()
    parent = await parent_end(ours)
    _, writer = await asyncio.open_connection(sock=theirs)
    yield parent, writer
    await parent.close()
    writer.close()
    await writer.wait_closed()


def a_header(**changes: object) -> bytes:
    message = {"id": 1, "port": 80, "kind": "opened"} | changes
    return json.dumps({"message": message, "attachments": []}).encode()


@pytest.mark.parametrize("message", FROM_CHILD_MESSAGES, ids=lambda one: one.kind)
async def test_what_the_child_says_is_what_the_parent_hears(
    ends: Pair, message: m.FromChild
) -> None:
    parent, child = ends
    await child.write(message, 5)
    assert await parent.read(5) == message


@pytest.mark.parametrize("message", TO_CHILD_MESSAGES, ids=lambda one: one.kind)
async def test_what_the_parent_says_is_what_the_child_hears(ends: Pair, message: m.ToChild) -> None:
    parent, child = ends
    await parent.write(message, 5)
    assert await child.read(5) == message


async def test_frames_keep_their_order_and_their_borders(ends: Pair) -> None:
    parent, child = ends
    big = replace(CAPTURED, png=bytes(3 << 20))
    writes = [child.write(message, 10) for message in (big, COMPARED, big)]
    sent = asyncio.gather(*writes)
    assert [await parent.read(10) for _ in writes] == [big, COMPARED, big]
    await sent


async def test_a_dead_child_reads_as_closed(ends: Pair) -> None:
    parent, child = ends
    await child.close()
    with pytest.raises(ChannelClosedError):
        await parent.read(5)


async def test_a_child_that_dies_inside_a_frame_reads_as_closed(
    raw: tuple[Channel[m.FromChild, m.ToChild], asyncio.StreamWriter],
) -> None:
    parent, writer = raw
    writer.write(LENGTHS.pack(100, 0) + b"{")
    writer.close()
    with pytest.raises(ChannelClosedError):
        await parent.read(5)


async def test_a_silent_child_runs_into_the_deadline(ends: Pair) -> None:
    parent, _ = ends
    with pytest.raises(ChannelDeadlineError, match=r"reading a frame took longer than 0\.01 s"):
        await parent.read(0.01)


async def test_a_parent_that_does_not_read_runs_into_the_deadline(ends: Pair) -> None:
    _, child = ends
    with pytest.raises(ChannelDeadlineError, match="writing"):
        await child.write(replace(CAPTURED, png=bytes(8 << 20)), 0.01)


@pytest.mark.parametrize(
    ("header", "body"),
    [(MAX_HEADER_FROM_CHILD + 1, 0), (10, MAX_BODY_FROM_CHILD + 1), (2**32 - 1, 2**32 - 1)],
)
async def test_an_oversized_frame_is_refused_before_memory_is_taken_for_it(
    raw: tuple[Channel[m.FromChild, m.ToChild], asyncio.StreamWriter], header: int, body: int
) -> None:
    parent, writer = raw
    writer.write(LENGTHS.pack(header, body))
    tracemalloc.start()
    with pytest.raises(ChannelViolationError, match="a frame of"):
        await parent.read(5)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_one_who_would_send_an_oversized_frame_is_told_before_it_goes() -> None:
    with pytest.raises(ChannelViolationError):
        FROM_CHILD.encode(replace(CAPTURED, png=bytes(MAX_BODY_FROM_CHILD + 1)))


@pytest.mark.parametrize(
    "header",
    [
        pickle.dumps(CAPTURED),
        b"/etc/passwd",
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        a_header(kind="open"),
        a_header(kind="exec"),
        a_header(port=0),
        a_header(port="80"),
        a_header(port=80.5),
        a_header(id=-1),
        a_header(id=10**40),
        a_header(extra=1),
        a_header()[:-1],
        a_header(id=float("nan")),
    ],
    ids=lambda header: header[:40].decode(errors="replace"),
)
def test_anything_but_a_message_is_refused(header: bytes) -> None:
    with pytest.raises(ChannelViolationError):
        FROM_CHILD.decode(header, b"")


def test_the_parent_says_nothing_a_child_would_and_the_other_way_round() -> None:
    _, header = TO_CHILD.encode(m.Close(1))
    with pytest.raises(ChannelViolationError):
        FROM_CHILD.decode(header, b"")


@pytest.mark.parametrize("body", [b"", b"12345", b"1234567"])
def test_attachments_must_add_up_to_the_body(body: bytes) -> None:
    _, header, *_ = FROM_CHILD.encode(replace(CAPTURED, png=b"123456"))
    with pytest.raises(ChannelViolationError, match="add up"):
        FROM_CHILD.decode(header, body)


def test_a_picture_may_not_hide_in_the_header() -> None:
    header = FROM_CHILD.encode(CAPTURED)[1]
    smuggled = json.loads(header)
    smuggled["message"]["png"] = "text"
    smuggled["attachments"] = [0]
    with pytest.raises(ChannelViolationError, match="inside the header"):
        FROM_CHILD.decode(json.dumps(smuggled).encode(), b"")


@pytest.mark.parametrize(
    "value",
    [
        ["x"] * 51,
        "x" * 201,
        {"x" * 61: 1},
        {str(number): 1 for number in range(31)},
        {"a": {"b": ["x" * 201]}},
        {"a": {"b": {"c\x00": 1}}},
        [[[["x\x00"]]]],
    ],
)
def test_a_parameter_is_short_however_deep(value: object) -> None:
    story = {"story_id": "a--b", "storyshelf": {"viewports": value}, "chromatic": {}}
    message = {"id": 1, "stories": [story], "failed": [], "kind": "stories_read"}
    with pytest.raises(ChannelViolationError):
        FROM_CHILD.decode(json.dumps({"message": message, "attachments": []}).encode(), b"")


def test_a_parameter_as_deep_as_a_well_is_a_violation_and_nothing_else() -> None:
    well = '{"a":' * 50_000 + "1" + "}" * 50_000
    story = f'{{"story_id": "a--b", "storyshelf": {{"modes": {well}}}, "chromatic": {{}}}}'
    message = f'{{"id": 1, "stories": [{story}], "failed": [], "kind": "stories_read"}}'
    with pytest.raises(ChannelViolationError):
        FROM_CHILD.decode(f'{{"message": {message}, "attachments": []}}'.encode(), b"")


@given(header=st.binary(max_size=200), body=st.binary(max_size=20))
def test_random_bytes_are_a_violation_and_nothing_else(header: bytes, body: bytes) -> None:
    with pytest.raises(ChannelViolationError):
        FROM_CHILD.decode(header, body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
SAMPLES = [FROM_CHILD.encode(one) for one in FROM_CHILD_MESSAGES]


@given(frame=st.sampled_from(SAMPLES), data=st.data(), value=JSON)
def test_a_message_with_a_mangled_field_is_a_message_or_a_violation(
    frame: list[bytes], data: st.DataObject, value: object
) -> None:
    _, header, *bodies = frame
    mangled = json.loads(header)
    mangled["message"][data.draw(st.sampled_from(sorted(mangled["message"])))] = value
    try:
        heard: m.FromChild = FROM_CHILD.decode(json.dumps(mangled).encode(), b"".join(bodies))
    except ChannelViolationError:
        return
    assert FROM_CHILD.encode(heard)


def unbounded_texts(schema: object) -> list[object]:
    """Return what in a schema may be a text of any length or with any character."""
    if isinstance(schema, list):
        return [found for each in schema for found in unbounded_texts(each)]
    if not isinstance(schema, dict):
        return []
    is_text = schema.get("type") == "string" and schema.get("format") != "binary"
    is_bound = {"pattern", "maxLength"} <= schema.keys() or {"enum", "const"} & schema.keys()
    inside = [found for each in schema.values() for found in unbounded_texts(each)]
    is_open = is_text and not is_bound
    return [*inside, *([schema] if is_open else [])]


def test_every_text_of_a_child_is_bounded_in_length_and_characters() -> None:
    assert unbounded_texts(FROM_CHILD.adapter.json_schema()) == []


def test_a_text_that_no_database_takes_is_refused() -> None:
    error = m.StoryError(m.ErrorCode.PLAY_FAILED, "m", "a\0b")
    _, header, *bodies = FROM_CHILD.encode(replace(CAPTURED, error=error))
    with pytest.raises(ChannelViolationError, match=r"error\.stack"):
        FROM_CHILD.decode(header, b"".join(bodies))


def test_a_name_that_no_database_takes_is_refused() -> None:
    _, header, *bodies = FROM_CHILD.encode(replace(CAPTURED, timings_ms={"a\0b": 1.0}))
    with pytest.raises(ChannelViolationError, match="timings_ms"):
        FROM_CHILD.decode(header, b"".join(bodies))


def test_the_longest_id_of_an_index_passes_both_ways() -> None:
    longest = StoryId("x" * MAX_ID_BYTES)
    wanted = m.Capture(3, longest, 1280, 720, 1.0, 0, m.Page.FRESH, 1)
    stage = m.StageReached(3, longest, m.Stage.SHOOTING)
    assert TO_CHILD.decode(TO_CHILD.encode(wanted)[1], b"") == wanted
    assert FROM_CHILD.decode(FROM_CHILD.encode(stage)[1], b"") == stage


STORABLE = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)


@given(png=st.binary(max_size=300), text=STORABLE)
def test_every_message_survives_the_way(png: bytes, text: str) -> None:
    said = replace(
        CAPTURED, png=png, frames=png[::2], error=m.StoryError(m.ErrorCode.PLAY_FAILED, text, "")
    )
    _, header, *bodies = FROM_CHILD.encode(said)
    assert FROM_CHILD.decode(header, b"".join(bodies)) == said


def padded(message: m.FromChild, size: int) -> bytes:
    _, header, *_ = FROM_CHILD.encode(message)
    return header.rjust(size)


@pytest.mark.parametrize("sign", [m.Alive(), m.StageReached(7, STORY, m.Stage.RENDERING)])
def test_a_sign_of_life_is_no_larger_than_it_has_to_be(sign: m.Alive | m.StageReached) -> None:
    """Spaces are valid JSON: a child would hold up its parent with each beat that it may send."""
    assert FROM_CHILD.decode(padded(sign, MAX_SIGN), b"") == sign
    with pytest.raises(ChannelViolationError, match="a sign of life of"):
        FROM_CHILD.decode(padded(sign, MAX_SIGN + 1), b"")


def test_a_stage_of_the_longest_name_in_its_longest_form_is_a_sign_of_life() -> None:
    stage = m.StageReached(2**53 - 1, StoryId("\u20ac" * MAX_ID_BYTES), m.Stage.RENDERING)
    _, header, *_ = FROM_CHILD.encode(stage)
    escaped = json.dumps(json.loads(header), ensure_ascii=True).encode()
    assert FROM_CHILD.decode(escaped, b"") == stage
