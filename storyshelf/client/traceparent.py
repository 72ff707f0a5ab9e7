"""A W3C trace context as a header carries it: where a request came from, for who traces it on."""

import re
from collections.abc import Mapping

# Version, trace, parent, flags; of a later version the same four fields are read and no more.
FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
MAX_CHARS = 256  # of what is looked at: a later version may append to it, but nobody sends a book
FIRST_VERSION, NO_VERSION = "00", "ff"


def parse_traceparent(given: str) -> str | None:
    """Return the context in its own form; None for what is none, which the standard has ignored."""
    if len(given) > MAX_CHARS:
        return None
    match = FORM.fullmatch(given.strip())
    if match is None:
        return None
    version, trace, parent, flags, more = match.groups()
    if version == NO_VERSION or (version == FIRST_VERSION and more is not None):
        return None
    if not (int(trace, 16) and int(parent, 16)):
        return None
    return f"{version}-{trace}-{parent}-{flags}"


def trace_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the header that passes on the trace which a CI's run is part of, if it is in one."""
    found = parse_traceparent(environ.get("TRACEPARENT", ""))
    return {} if found is None else {"traceparent": found}
