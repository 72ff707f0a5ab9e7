"""What people read in a terminal or a log must not steer it, whoever said it."""

from unicodedata import bidirectional, category

KEPT = "\n\t"
CONTROLS = frozenset({"Cc", "Zl", "Zp"})  # escape sequences begin with one; others move the cursor
REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def plain(text: str) -> str:
    r"""Return a text with what would steer a terminal shown as it is written, such as `\x1b`.

    Errors repeat what a story, a browser or a caller said, and that may be anything.
    """
    if text.isprintable():
        return text
    return "".join(ascii(char)[1:-1] if _steers(char) else char for char in text)


def _steers(char: str) -> bool:
    if char in KEPT:
        return False
    return category(char) in CONTROLS or bidirectional(char) in REORDERING
