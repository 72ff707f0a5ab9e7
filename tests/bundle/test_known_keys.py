"""The README tells of every key that is read, and of every name it is read from."""

import re
from pathlib import Path

from storyshelf.bundle.known_keys import KNOWN_KEYS

README = Path(__file__).parents[2] / "README.md"
ROW = re.compile(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", re.MULTILINE)


def test_the_readme_lists_every_key_with_its_other_names() -> None:
    text = README.read_text(encoding="utf-8")
    section = text.partition("## What a story may ask for")[2].partition("\n## ")[0]
    listed = [(key, re.findall(r"`([^`]+)`", names)) for key, names in ROW.findall(section)]
    assert listed == [(key.name, list(key.sources)) for key in KNOWN_KEYS]
