"""What the database tests themselves rely on."""

import shutil
from pathlib import Path

from tests.db.server import a_data_folder, clear_leftovers


def test_a_folder_in_use_is_no_leftover() -> None:
    with a_data_folder() as folder:
        clear_leftovers()
        assert folder.is_dir()


def test_a_folder_whose_process_was_killed_is_cleared_away() -> None:
    with a_data_folder() as folder:
        abandoned = Path(shutil.copytree(folder, f"{folder}-abandoned"))
        clear_leftovers()
        assert not abandoned.exists()
