"""The script that is in every page before the page's own: what it does is said in each part.

A part's number is its turn: while it loads it uses only what lower numbers have made. What is
called later may use all. Two names leave the script: `__storyshelf__`, by which the capturer asks,
and `storyshelf`, by which a play function asks for its shots.
"""

import json
from dataclasses import asdict
from pathlib import Path

from storyshelf.bundle.known_keys import KNOWN_KEYS


def part(name: str) -> str:
    """Return one part of the script, to be run elsewhere than in the page."""
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")


def page_script() -> str:
    """Return the parts as one script, which share a scope."""
    body = "\n".join(part(file.stem) for file in sorted(Path(__file__).parent.glob("*.js")))
    keys = json.dumps([asdict(key) for key in KNOWN_KEYS])
    return f'(() => {{\n"use strict";\n{body.replace("KNOWN_KEYS", keys, 1)}\n}})();'
