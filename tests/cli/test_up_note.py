import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from storyshelf.cli.up_note import (
    ClosedDataError,
    Note,
    alone,
    is_alive,
    read_note,
    remove_note,
    write_note,
)


def test_one_holds_the_folder_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path) as first, alone(tmp_path) as second:
        assert first is not None
        assert second is None
    with alone(tmp_path) as third:
        assert third is not None


def test_who_inherits_the_lock_holds_it_until_it_ends(tmp_path: Path) -> None:
    wait_for_us = [sys.executable, "-c", "input()"]
    with alone(tmp_path) as lock:
        assert lock is not None
        heir = subprocess.Popen(wait_for_us, stdin=subprocess.PIPE, pass_fds=(lock,))
    with alone(tmp_path) as taken:
        assert taken is None
    heir.communicate(b"\n")
    with alone(tmp_path) as free:
        assert free is not None


def test_a_note_is_read_as_it_was_written_by_its_owner_only(tmp_path: Path) -> None:
    note = Note(os.getpid(), "http://127.0.0.1:1", "storybook", owns_database=True)
    write_note(tmp_path, note)
    assert read_note(tmp_path) == note
    assert stat.S_IMODE((tmp_path / "up.json").stat().st_mode) == 0o600
    remove_note(tmp_path)
    assert read_note(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": 1, "of": "another version"}'])
def test_rubbish_is_no_note(tmp_path: Path, text: str) -> None:
    (tmp_path / "up.json").write_text(text)
    assert read_note(tmp_path) is None


def test_a_note_outlives_who_wrote_it() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    assert is_alive(Note(os.getpid()))
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # a zombie from here on
    assert not is_alive(Note(ended.pid))
    ended.wait()


def test_a_folder_that_cannot_be_made_is_an_error_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(ClosedDataError, match="STORYSHELF_DATA_DIR"),
        alone(tmp_path / "file" / "x"),
    ):
        pass
