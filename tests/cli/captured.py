"""What a command printed."""

import json
from typing import Any

import pytest

Captured = pytest.CaptureFixture[str]


def read_json(captured: Captured) -> Any:
    """Return stdout as the one document it must be."""
    out, err = captured.readouterr()
    assert err == ""
    return json.loads(out)
