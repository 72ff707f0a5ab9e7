"""The script that is in every page before the page's own: what it does is said in each part."""

from pathlib import Path


def page_script() -> str:
    """Return the parts as one script; they share a scope, and one name leaves it."""
    parts = sorted(Path(__file__).parent.glob("*.js"))
    body = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    return f'(() => {{\n"use strict";\n{body}\n}})();'
