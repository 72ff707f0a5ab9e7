"""The script that is in every page before the page's own: what it does is said in each part."""

import json
from dataclasses import asdict
from pathlib import Path

from storyshelf.bundle.known_keys import KNOWN_KEYS


def part(name: str) -> str:
    """Return one part of the script, to be run elsewhere than in the page."""
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")


def page_script() -> str:
    """Return the parts as one script; they share a scope, and one name leaves it."""
    parts = sorted(Path(__file__).parent.glob("*.js"))
    body = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    keys = json.dumps([asdict(key) for key in KNOWN_KEYS])
    return f'(() => {{\n"use strict";\n{body.replace("KNOWN_KEYS", keys, 1)}\n}})();'
