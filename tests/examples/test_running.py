"""The example's storyshelf: what it says when it cannot start."""

import socket
from pathlib import Path

import pytest

from examples.running import NotStartedError, running


def test_why_it_cannot_start_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
        monkeypatch.setenv("STORYSHELF_PORT", str(port))
        with pytest.raises(NotStartedError) as refused, running():
            pass
    assert str(port) in str(refused.value)
    assert "STORYSHELF_PORT" in refused.value.next_step


def test_an_end_without_a_word_is_told_with_its_code() -> None:
    assert "code -9" in NotStartedError(-9, "").what
