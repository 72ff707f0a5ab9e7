"""Makes a child's trace a file that can be handed on: what is in it is read anew, and bounded.

A child may have been taken over, so its zip may be a bomb, lie about itself, or hold names that
lead out of a folder. Of what it holds only what a trace is made of is kept, in a zip that we write.
The list of source files that the driver adds is not: it would name folders of this machine.
"""

import asyncio
import re
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from consumer.messages import MAX_TRACE_BYTES, Captured
from storyshelf.errors import StoryshelfError

STEPS = "trace.trace"  # what every trace has
KEPT = re.compile(r"trace\.(trace|network)|(resources|screencast)/[A-Za-z0-9@_-][A-Za-z0-9@._-]*")
MAX_NAME = 200
MAX_FILES = 5_000  # a frame of the screencast for each repaint, and what the story asked for
MAX_UNPACKED_BYTES = 256 << 20  # what a viewer has to hold; steps pack to a twentieth
MAX_PACKED_BYTES = 2 * MAX_TRACE_BYTES  # of ours: another library packs it a little otherwise
MAX_LIST_BYTES = 2 << 20  # of the names: Python's reader makes objects of them before we see any
END, END_BYTES = b"PK\x05\x06", 22  # of a zip without a comment, as the driver writes it
BEFORE_END_64, BEFORE_END_64_BYTES = b"PK\x06\x07", 20  # what larger ones have before it
LIST_SIZE = slice(12, 16)
PLAIN = {ZIP_STORED, ZIP_DEFLATED}
BAD = (BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


class BadTraceError(StoryshelfError):
    """What a child sent as a trace is none, or is too much of one."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"There is no trace: {problem}",
            next_step="Record it again; a story that loads less may give one.",
        )


async def trace_in(captured: Captured) -> bytes:
    """Return the trace that a child sent, as a file of ours; raises BadTraceError."""
    if not captured.trace:
        raise BadTraceError(captured.untraced or "there is none")
    return await asyncio.to_thread(rewritten, captured.trace)


def rewritten(content: bytes) -> bytes:
    """Return the same trace as a zip of our own; to be run on a thread.

    The same content gives the same bytes. Raises BadTraceError.
    """
    _require_short_list(content)
    try:
        with ZipFile(BytesIO(content)) as given:
            return _rewritten(given)
    except BAD as error:
        raise BadTraceError(f"it is no zip that can be read ({type(error).__name__})") from None


def _rewritten(given: ZipFile) -> bytes:
    files = {each.filename: each for each in given.infolist() if _is_kept(each)}
    if STEPS not in files:
        raise BadTraceError("it has no steps")
    if len(files) > MAX_FILES:
        raise BadTraceError(f"it has more than {MAX_FILES} files")
    out, left = BytesIO(), MAX_UNPACKED_BYTES
    with ZipFile(out, "w") as made:
        for name, file in files.items():
            with given.open(file) as opened:
                content = opened.read(left + 1)
            left -= len(content)
            if left < 0:
                raise BadTraceError(f"it unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
            written = ZipInfo(name)  # of no date, and with no rights
            written.compress_type = file.compress_type
            made.writestr(written, content)
            if out.tell() > MAX_PACKED_BYTES:  # its files were one and the same, told many times
                raise BadTraceError(f"it has more than {MAX_PACKED_BYTES >> 20} MiB")
    return out.getvalue()


def _is_kept(file: ZipInfo) -> bool:
    is_known = KEPT.fullmatch(file.filename) is not None and len(file.filename) <= MAX_NAME
    return is_known and file.compress_type in PLAIN


def _require_short_list(content: bytes) -> None:
    end = content[-END_BYTES:]
    before = content[-END_BYTES - BEFORE_END_64_BYTES : -END_BYTES]
    if not end.startswith(END) or before.startswith(BEFORE_END_64):
        raise BadTraceError("it does not end as a trace does")
    if int.from_bytes(end[LIST_SIZE], "little") > MAX_LIST_BYTES:
        raise BadTraceError("its list of files is too long")
