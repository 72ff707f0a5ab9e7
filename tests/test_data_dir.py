"""Server and client find the same data folder, whoever they run as and however it is written."""

import os
from pathlib import Path

import pytest

from storyshelf.data_dir import data_dir, own_user_id
from storyshelf.settings import Settings


def test_the_variable_beats_every_other_place() -> None:
    assert data_dir({"STORYSHELF_DATA_DIR": "/data"}, 0) == Path("/data")


def test_root_keeps_its_data_in_the_systems_place() -> None:
    assert data_dir({}, 0) == Path("/var/lib/storyshelf")


@pytest.mark.parametrize("user_id", [1000, None])
def test_a_user_keeps_the_data_at_home(user_id: int | None) -> None:
    assert data_dir({}, user_id).name == "storyshelf"
    assert data_dir({}, user_id) != data_dir({}, 0)


@pytest.mark.parametrize("written", ["/data", "~/storyshelf", "here", ""])
def test_the_client_looks_where_the_server_keeps_it(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("STORYSHELF_DATA_DIR", written)
    assert data_dir(os.environ, own_user_id()) == Settings().data_dir
