"""The room of a child: what is in it, whose it is, and what its inhabitants are told."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from consumer.cell import PACKAGES, Cell, browser_script, child_environment, furnish
from consumer.privileges import Dropping, drop_to

OURS = Dropping(None, ())


def a_cell(folder: Path, browser: Dropping = OURS) -> Cell:
    return Cell(folder / "cell 1", OURS, browser)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A browser that says what it was started with."""
    path = tmp_path / "a browser"
    path.write_text('#!/bin/sh\nfor each in "$@"; do echo "arg $each"; done\nenv\n')
    path.chmod(0o755)
    return path


def started(cell: Cell, *switches: str) -> list[str]:
    ran = subprocess.run(
        [cell.browser_script, *switches],
        env={"PATH": os.environ["PATH"], "SECRET": "x"},
        capture_output=True,
        check=True,
    )
    return ran.stdout.decode().splitlines()


def test_each_folder_is_as_closed_as_it_can_be(tmp_path: Path) -> None:
    cell = a_cell(tmp_path)
    furnish(cell, Path("/bin/true"), {})
    folders = (cell.folder, cell.home, cell.child_home, cell.bundle, cell.browser_script)
    assert [mode_of(path) for path in folders] == [0o711, 0o700, 0o700, 0o750, 0o755]


def test_the_browser_gets_its_switches_and_last_of_all_its_own_profile(
    tmp_path: Path, echo: Path
) -> None:
    cell = a_cell(tmp_path)
    furnish(cell, echo, {"PATH": os.environ["PATH"]})
    said = started(cell, "--user-data-dir=/tmp/other", "a b", "$HOME")
    profile = f"arg --user-data-dir={cell.home}/profile"
    assert said[:4] == ["arg --user-data-dir=/tmp/other", "arg a b", "arg $HOME", profile]


def test_the_browser_sees_no_environment_but_its_own(tmp_path: Path, echo: Path) -> None:
    cell = a_cell(tmp_path)
    furnish(cell, echo, {"PATH": os.environ["PATH"], "FONTCONFIG_FILE": "/etc/f", "TOKEN": "x"})
    seen = dict(line.split("=", 1) for line in started(cell)[1:])
    del seen["PATH"]
    seen.pop("PWD", None)
    assert seen == {
        "HOME": str(cell.home),
        "TMPDIR": str(cell.home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "FONTCONFIG_FILE": "/etc/f",
    }


def test_the_script_changes_the_uid_before_anything_else(tmp_path: Path) -> None:
    cell = a_cell(tmp_path, drop_to(61_007, "/usr/bin/setpriv"))
    script = browser_script(cell, Path("/usr/bin/chromium"), {})
    assert script.startswith("#!/bin/sh\nexec /usr/bin/setpriv --reuid=61007 --regid=61007 ")


def test_a_childs_environment_is_built_from_a_list(tmp_path: Path) -> None:
    cell = a_cell(tmp_path)
    secrets = {"STORYSHELF_DATABASE_URL": "x", "AWS_SECRET_ACCESS_KEY": "x", "HOME": "/root"}
    assert child_environment(cell, secrets | {"PATH": "/bin"}) == {
        "PATH": "/bin",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(cell.child_home),
        "TMPDIR": str(cell.child_home),
        "PYTHONPATH": str(PACKAGES),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "NODE_OPTIONS": "--max-semi-space-size=1",
    }


def test_only_absolute_folders_are_added_to_where_a_child_imports_from(tmp_path: Path) -> None:
    environ = {"PYTHONPATH": "/opt/packages:.::relative"}
    path = child_environment(a_cell(tmp_path), environ)["PYTHONPATH"]
    assert path == f"{PACKAGES}:/opt/packages"
