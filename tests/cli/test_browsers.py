"""Which browser captures here, as `storyshelf browsers` tells it."""

import json
from pathlib import Path

import pytest

from storyshelf.cli.main import run

Captured = pytest.CaptureFixture[str]


def a_browser(path: Path, version: str) -> Path:
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which nobody has installed a browser."""
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STORYSHELF_BROWSER_PATH", raising=False)
    return monkeypatch


def test_the_first_of_the_list_is_the_one_that_captures(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    shell = a_browser(tmp_path / "chromium-headless-shell", "Shell 9")
    full = a_browser(tmp_path / "chromium", "Chromium 9")
    assert run(["browsers", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["browsers"]
    assert [(one["path"], one["version"], one["is_used"]) for one in found] == [
        (str(shell), "Shell 9", True),
        (str(full), "Chromium 9", False),
    ]


def test_one_that_is_named_comes_first(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    a_browser(tmp_path / "chromium", "Chromium 9")
    environment.setenv("STORYSHELF_BROWSER_PATH", str(a_browser(tmp_path / "mine", "Mine 1")))
    assert run(["browsers", "list"]) == 0
    assert capsys.readouterr().out.startswith(f"* Mine 1  {tmp_path / 'mine'}  (setting)\n  Chr")


def test_a_named_one_that_is_none_is_said(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    environment.setenv("STORYSHELF_BROWSER_PATH", str(tmp_path / "gone"))
    assert run(["browsers", "list"]) == 254
    assert "it does not exist" in capsys.readouterr().err


def test_a_machine_without_one_says_how_to_get_one(
    environment: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert run(["browsers", "list"]) == 0
    assert "`storyshelf browsers install` gets one" in capsys.readouterr().out


def test_one_that_does_not_start_says_so(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho a library is missing >&2\nexit 127\n")
    broken.chmod(0o755)
    assert run(["browsers", "list"]) == 0
    assert "does not start: a library is missing" in capsys.readouterr().out
