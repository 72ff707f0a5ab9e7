"""Where a page may lead on to: a path of this server, and never another host."""

from urllib.parse import urlsplit

MAX_PATH = 2_000


def own_path(text: str | None, otherwise: str = "/") -> str:
    r"""Return the text if every browser reads it as a path of this server, else the other one.

    A browser takes a backslash for a slash and drops tabs and line ends, so that `/\host` and
    `/<tab>/host` would lead away.
    """
    if not text or len(text) > MAX_PATH or not text.startswith("/") or text.startswith("//"):
        return otherwise
    if "\\" in text or not text.isprintable():
        return otherwise
    parts = urlsplit(text)
    return otherwise if parts.scheme or parts.netloc else text
