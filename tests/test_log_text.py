"""What strangers said does not steer the terminal that a log is read in."""

import pytest
import structlog

from storyshelf import logs

Captured = pytest.CaptureFixture[str]
HOSTILE = "/\x1b[2J\x9b8m\u202e"
SHOWN = r"/\x1b[2J\x9b8m\u202e"


def test_a_field_is_plain(capsys: Captured) -> None:
    logs.configure("info", "text")
    structlog.get_logger().info("request.failed", path=HOSTILE, number=7)
    told = capsys.readouterr().err
    assert f"path={SHOWN}" in told
    assert "number=7" in told


def test_a_traceback_is_plain(capsys: Captured) -> None:
    logs.configure("info", "text")
    error = RuntimeError(HOSTILE)
    structlog.get_logger().error("job.broke", exc_info=error)
    assert f"RuntimeError: {SHOWN}\n" in capsys.readouterr().err
