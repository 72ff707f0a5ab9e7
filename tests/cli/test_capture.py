"""`storyshelf capture`: how the consumer's part is started, and what becomes of its exit code."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storyshelf.cli.capture import command
from storyshelf.cli.main import run
from storyshelf.settings import read_settings
from tests.consumer.little_storybook import SQUARE, html
from tests.consumer.local_storybook import built

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where nothing is set, and a folder that nothing is written to unasked."""
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("STORYSHELF_BROWSER_PATH", raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_settings_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORYSHELF_BROWSER_PATH", "/opt/chromium")
    monkeypatch.setenv("STORYSHELF_STORY_TIMEOUT_S", "20")
    monkeypatch.setenv("STORYSHELF_CHILD_MEMORY_MB", "900")
    words = " ".join(command(read_settings()))
    assert "--browser /opt/chromium" in words
    assert "--timeout-s 20.0" in words
    assert "--memory-mb 900" in words


def test_a_folder_that_is_no_storybook_is_refused_with_what_to_run(
    tmp_path: Path, capfd: Captured
) -> None:
    assert run(["capture", str(tmp_path)]) == 2
    assert "npx storybook build" in capfd.readouterr().err
    assert not (tmp_path / "storyshelf-capture").exists()


def test_an_option_that_cannot_be_is_refused(tmp_path: Path, capfd: Captured) -> None:
    assert run(["capture", str(tmp_path), "--width", "20"]) == 2
    said = capfd.readouterr().err
    assert said == (
        "Error: --width: 20 is not from 200 to 2560\nRun `storyshelf capture --help`.\n"
    )


def test_a_folder_whose_name_looks_like_an_option_is_a_folder(
    tmp_path: Path, capfd: Captured
) -> None:
    assert run(["capture", "--", "--repeat"]) == 2
    assert "no such folder" in capfd.readouterr().err.lower()


def test_a_story_that_there_is_none_of_names_others(tmp_path: Path, capfd: Captured) -> None:
    folder = built(tmp_path / "book", {"button--primary": html(SQUARE)})
    assert run(["capture", str(folder), "--story", "buton--primary"]) == 2
    assert "button--primary" in capfd.readouterr().err


def test_without_a_browser_it_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    folder = built(tmp_path / "book", {"button--primary": html(SQUARE)})
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    assert run(["capture", str(folder)]) == 3
    assert "storyshelf browsers install" in capfd.readouterr().err


@pytest.mark.browser
@pytest.mark.timeout(60)
def test_a_storybook_is_captured_without_a_server(tmp_path: Path, capfd: Captured) -> None:
    folder = built(tmp_path / "book", {"button--primary": html(SQUARE)})
    assert run(["capture", str(folder), "--out", "shots"]) == 0
    assert capfd.readouterr().out == "shots/index.html\n"
    assert json.loads((tmp_path / "shots" / "report.json").read_text())["counts"]["ok"] == 1
    assert (tmp_path / "shots" / "button--primary.png").is_file()
    assert not (tmp_path / "data").exists()


@pytest.mark.browser
@pytest.mark.timeout(60)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_is_stopped_still_writes_its_report(tmp_path: Path, number: int) -> None:
    stories = {"a--thrown": html(SQUARE), "b--endless": html(SQUARE)}
    folder = built(tmp_path / "book", stories)
    argv = [sys.executable, "-m", "storyshelf.cli.main", "capture", str(folder), "--repeat", "900"]
    with subprocess.Popen(argv, cwd=tmp_path, env=os.environ, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if b"1800 captures" in line)
        process.send_signal(number)
        process.stderr.read()
    assert process.returncode == 130
    report = json.loads((tmp_path / "storyshelf-capture" / "report.json").read_text())
    assert report["complete"] is False
