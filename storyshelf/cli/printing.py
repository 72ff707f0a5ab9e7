"""What commands on the database print: lines for people, or one JSON document."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from storyshelf.terminal import plain


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, of which none steers the terminal."""
    print("\n".join(map(plain, lines)))


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document; its times are in ISO 8601."""
    print(json.dumps(document, indent=2, default=datetime.isoformat))
