"""Finds the path that a Storybook was built for, such as `/some/path/`, by its preview.

No index names it; a preview that was built for one asks for its own files by their whole path.
"""

import re
from collections.abc import Container

MAX_HTML = 262_144  # characters that are searched; a preview's head is a few thousand
MAX_NAMED = 500  # addresses that are tried
NAMED = re.compile(r"""(?:src|href|from|import)\s*(?:=|\()?\s*["'](/(?!/)[^"'?#\s]{1,1024})""")


def base_of(preview_html: str, paths: Container[str]) -> str:
    """Return the path with both its slashes, or `/`; the first file that is named decides.

    A name that no file of the bundle ends in decides nothing.
    """
    for number, named in enumerate(NAMED.finditer(preview_html[:MAX_HTML])):
        if number == MAX_NAMED:
            break
        if (base := _before(named[1], paths)) is not None:
            return base
    return "/"


def _before(address: str, paths: Container[str]) -> str | None:
    """Return what stands before the longest end of the address that is a file."""
    at = 0
    while at >= 0:
        if address[at + 1 :] in paths:
            return address[: at + 1]
        at = address.find("/", at + 1)
    return None
