"""The names of a story's files: plain where the story's id is, and never a way out of a folder."""

import unicodedata
from hashlib import sha256

from storyshelf.ids import DEFAULT_MODE, StoryId

ID_BYTES, MODE_BYTES = 100, 40  # with hashes and frame number it stays under the 255 of a file name
HASH_DIGITS = 10  # enough to tell the odd names of one Storybook apart
BESIDE_LETTERS = "-_."


def stem_of(story_id: StoryId, mode: str) -> str:
    """Return the file name of a story's picture in a mode, without its suffix.

    Two stories, or modes, have two names also where a disk ignores case or composes letters.
    """
    story = _plain(story_id, ID_BYTES)
    return story if mode == DEFAULT_MODE else f"{story}@{_plain(mode, MODE_BYTES)}"


def frame_of(stem: str, number: int) -> str:
    """Name the picture of a story that differs from its first; no stem ends so."""
    return f"{stem}~frame-{number}.png"


def trace_of(stem: str) -> str:
    """Name the trace of a story; no stem ends so."""
    return f"{stem}~trace.zip"


def _plain(text: str, limit_bytes: int) -> str:
    """Return the text itself if it can be a name as it stands, else what is left with a hash."""
    composed = unicodedata.normalize("NFC", text).casefold()
    kept = "".join(each if each.isalnum() or each in BESIDE_LETTERS else "-" for each in composed)
    kept = kept.lstrip(".-")
    if kept == text and len(text.encode()) <= limit_bytes:
        return text
    digest = sha256(text.encode(errors="surrogatepass")).hexdigest()[:HASH_DIGITS]
    return f"{kept.encode()[:limit_bytes].decode(errors='ignore')}~{digest}"
