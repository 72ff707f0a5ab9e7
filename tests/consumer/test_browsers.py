"""Which browser is used, and what is said when there is none."""

from pathlib import Path

import pytest

from consumer.browsers import (
    Browser,
    BrowserKind,
    BrowserSearch,
    BrowserSource,
    NoBrowserError,
    UnusableBrowserError,
    find_browser,
    system_search,
)

REVISIONS = {"chromium": "1255", "chromium-headless-shell": "1255"}
SHELL = "chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell"
FULL = "chromium-1255/chrome-linux64/chrome"


def an_executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def a_search(registry: Path, *installed: str) -> BrowserSearch:
    on_path = {name: f"/usr/bin/{name}" for name in installed}
    return BrowserSearch(registry, REVISIONS, on_path.get)


def test_a_named_browser_wins_over_all_others(tmp_path: Path) -> None:
    named = an_executable(tmp_path / "mine" / "chrome")
    an_executable(tmp_path / SHELL)
    found = find_browser(named, a_search(tmp_path, "chromium"))
    assert found == Browser(named, BrowserKind.CHROMIUM, BrowserSource.SETTING)


def test_a_named_browser_that_is_missing_is_not_replaced_by_another(tmp_path: Path) -> None:
    with pytest.raises(UnusableBrowserError, match="does not exist") as raised:
        find_browser(tmp_path / "gone", a_search(tmp_path, "chromium"))
    assert str(tmp_path / "gone") in str(raised.value)


def test_a_named_file_that_cannot_be_executed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a browser")
    with pytest.raises(UnusableBrowserError, match="not executable"):
        find_browser(tmp_path / "notes.txt", a_search(tmp_path))


def test_playwrights_shell_is_preferred_to_its_full_browser(tmp_path: Path) -> None:
    shell = an_executable(tmp_path / SHELL)
    an_executable(tmp_path / FULL)
    found = find_browser(None, a_search(tmp_path, "chromium-headless-shell"))
    assert found == Browser(shell, BrowserKind.HEADLESS_SHELL, BrowserSource.PLAYWRIGHT)


def test_playwrights_full_browser_is_used_when_there_is_no_shell(tmp_path: Path) -> None:
    full = an_executable(tmp_path / FULL)
    found = find_browser(None, a_search(tmp_path, "chromium"))
    assert found == Browser(full, BrowserKind.CHROMIUM, BrowserSource.PLAYWRIGHT)


def test_a_revision_that_playwright_does_not_expect_is_passed_over(tmp_path: Path) -> None:
    an_executable(tmp_path / FULL.replace("1255", "1100"))
    found = find_browser(None, a_search(tmp_path, "google-chrome"))
    assert found.path == Path("/usr/bin/google-chrome")


@pytest.mark.parametrize(
    ("installed", "expected", "kind"),
    [
        (("chromium", "chromium-headless-shell"), "chromium-headless-shell", "headless_shell"),
        (("google-chrome", "chromium"), "chromium", "chromium"),
        (("google-chrome-stable",), "google-chrome-stable", "chromium"),
    ],
)
def test_the_systems_browser_is_the_last_resort(
    tmp_path: Path, installed: tuple[str, ...], expected: str, kind: str
) -> None:
    found = find_browser(None, a_search(tmp_path, *installed))
    assert (found.path.name, found.kind) == (expected, kind)
    assert found.source is BrowserSource.SYSTEM


def test_without_any_browser_the_three_ways_out_are_named(tmp_path: Path) -> None:
    with pytest.raises(NoBrowserError) as raised:
        find_browser(None, a_search(tmp_path))
    message = str(raised.value)
    assert str(tmp_path) in message
    assert "storyshelf browsers install" in message
    assert "apt install chromium-headless-shell" in message
    assert "STORYSHELF_BROWSER_PATH" in message


def test_the_registry_is_where_playwright_was_told_to_keep_it() -> None:
    assert system_search({"PLAYWRIGHT_BROWSERS_PATH": "/opt/b"}).registry == Path("/opt/b")
    assert system_search({"HOME": "/home/ada"}).registry.is_relative_to("/home/ada")


def test_the_revisions_are_those_of_the_installed_playwright() -> None:
    revisions = system_search({"HOME": "/"}).revisions
    assert revisions["chromium"].isdecimal()
    assert revisions["chromium-headless-shell"].isdecimal()
