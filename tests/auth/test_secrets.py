"""The server's own key: made once, and never used where a part of it is missing."""

from pathlib import Path

import pytest

from storyshelf.auth.secrets import KEY_FILE, DamagedKeyError, SealedElsewhereError, secrets_of


def test_the_folder_s_key_is_made_once(tmp_path: Path) -> None:
    sealed = secrets_of(None, tmp_path).seal("a token")
    assert secrets_of(None, tmp_path).open(sealed) == "a token"


@pytest.mark.parametrize("left", [0, 31])
def test_a_key_that_was_cut_off_seals_and_signs_nothing(tmp_path: Path, left: int) -> None:
    secrets_of(None, tmp_path)
    path = tmp_path / KEY_FILE
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(DamagedKeyError):
        secrets_of(None, tmp_path)


def test_what_another_key_sealed_is_not_opened(tmp_path: Path) -> None:
    sealed = secrets_of("k" * 32, tmp_path).seal("a token")
    with pytest.raises(SealedElsewhereError):
        secrets_of("l" * 32, tmp_path).open(sealed)
