import json
from pathlib import Path

import pytest

from storyshelf.client.saved import (
    BadSavedFileError,
    BadServerUrlError,
    NoServerError,
    Server,
    choose_server,
    read_saved,
)

SAVED = Server("http://127.0.0.1:4000", "ssp_saved")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = json.dumps({"url": "http://127.0.0.1:4000/", "project": "demo", "token": "ssp_saved"})
    (tmp_path / "client.json").write_text(text)
    return tmp_path


def test_nothing_given_is_the_saved_server(folder: Path) -> None:
    assert choose_server(None, None, folder) == SAVED


def test_the_saved_servers_own_address_gets_the_saved_token(folder: Path) -> None:
    assert choose_server("http://127.0.0.1:4000/", None, folder) == SAVED


def test_the_saved_token_never_goes_to_another_server(folder: Path) -> None:
    with pytest.raises(NoServerError, match=r"No project token.*STORYSHELF_PROJECT_TOKEN"):
        choose_server("http://elsewhere.test", None, folder)


def test_what_is_given_beats_what_is_saved(folder: Path) -> None:
    given = choose_server("https://shelf.test", "ssp_given", folder)
    assert given == Server("https://shelf.test", "ssp_given")


def test_no_server_at_all_is_said_with_the_places_that_were_looked_at(tmp_path: Path) -> None:
    with pytest.raises(NoServerError, match=r"STORYSHELF_URL.*client\.json.*storyshelf up"):
        choose_server(None, None, tmp_path)


@pytest.mark.parametrize(
    "url", ["shelf.test", "ftp://shelf.test", "http://", "http://[", "x:y", "http://a:b"]
)
def test_an_address_that_is_none_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadServerUrlError):
        choose_server(url, "ssp_x", tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"url": 1, "token": "x"}', "\xff"])
def test_a_broken_file_is_named_with_its_cure(text: str, tmp_path: Path) -> None:
    (tmp_path / "client.json").write_text(text, encoding="latin-1")
    with pytest.raises(BadSavedFileError, match=r"client\.json.*Delete the file"):
        read_saved(tmp_path)


def test_a_broken_file_does_not_matter_where_all_is_given(tmp_path: Path) -> None:
    (tmp_path / "client.json").write_text("{")
    assert choose_server("http://a.test", "ssp_x", tmp_path).url == "http://a.test"


def test_a_token_is_not_in_what_a_log_would_print() -> None:
    assert "ssp_" not in repr(SAVED)
