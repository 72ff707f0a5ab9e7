"""The trace of a snapshot on its page: asked for, recorded, or why there is none."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from storyshelf.review.read import SnapshotView
from storyshelf.traces.trace import WITHOUT_STORY, Trace, TraceState
from storyshelf.ui.choice import Trail
from storyshelf.ui.words import When, when
from storyshelf.web.links import Links

SHOWN_AS_MB = 50_000  # bytes; what is smaller would be rounded to nothing


class May(Enum):
    """What the visitor may do about it."""

    LOOK = "look"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class TraceBox:
    """What is said of the trace, and what can be done about it; a link is empty where it is not."""

    sentence: str
    when: When | None
    by: str
    link: str
    file_link: str
    size: str
    ask_link: str
    ask: str
    is_wished: bool


def trace_box(
    trail: Trail, snapshot: SnapshotView, trace: Trace | None, may: May, now: datetime
) -> TraceBox | None:
    """Return the box; None: there is no story to record, or nothing for this visitor."""
    may_ask = may is May.ASK and snapshot.verdict not in WITHOUT_STORY
    if trace is None and not may_ask:
        return None
    is_there = trace is not None and trace.state is TraceState.RECORDED
    is_wished = trace is not None and trace.state is TraceState.WISHED
    link = Links().trace(trail.slug, trail.number, snapshot.id)
    return TraceBox(
        sentence=_sentence(trace),
        when=None if trace is None else when(trace.ended_at or trace.wished_at, now),
        by="" if trace is None else trace.wished_by,
        link=link if is_there else "",
        file_link=f"{link}.zip" if is_there else "",
        size=_size(trace),
        ask_link=link if may_ask and not is_wished else "",
        ask="Record a trace" if trace is None else "Record it again",
        is_wished=is_wished,
    )


def _size(trace: Trace | None) -> str:
    size_bytes = 0 if trace is None else trace.size_bytes or 0
    return f"{size_bytes / 1_000_000:.1f} MB" if size_bytes >= SHOWN_AS_MB else "under 0.1 MB"


def _sentence(trace: Trace | None) -> str:
    if trace is None:
        return "One more capture of this story, recorded step by step: page, requests, console."
    if trace.state is TraceState.WISHED:
        return "It is being recorded: one more capture, which changes no verdict."
    return trace.note
