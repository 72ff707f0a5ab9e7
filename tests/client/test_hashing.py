import hashlib
import os
from pathlib import Path

import pytest

from storyshelf.bundle.manifest import ManifestLimits, ManifestTooLargeError
from storyshelf.bundle.paths import BackslashPathError, EncodedPathError
from storyshelf.client.hashing import (
    LinkInBundleError,
    NotAFolderError,
    NotARegularFileError,
    UnreadableFileError,
    _FoundFile,
    _hash_file,
    hash_folder,
)
from tests.client.helpers import a_storybook


def test_every_file_has_its_path_hash_and_size_in_order(tmp_path: Path) -> None:
    folder = hash_folder(a_storybook(tmp_path, assets__b="bb", assets__a="a"))
    files = folder.manifest.files
    assert [file.path for file in files] == ["assets/a", "assets/b", "iframe.html", "index.json"]
    assert files[1].sha256 == hashlib.sha256(b"bb").hexdigest()
    assert files[1].size_bytes == 2
    assert folder.sources[files[1].sha256] == tmp_path / "assets" / "b"


def test_progress_reaches_the_number_of_files(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    hash_folder(a_storybook(tmp_path), lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_hidden_files_are_part_of_the_bundle(tmp_path: Path) -> None:
    (a_storybook(tmp_path) / ".well-known").write_text("x")
    assert hash_folder(tmp_path).manifest.find(".well-known") is not None


def test_a_decomposed_name_is_found_under_its_composed_one(tmp_path: Path) -> None:
    (a_storybook(tmp_path) / "e\u0301te\u0301.js").write_text("x")
    assert hash_folder(tmp_path).manifest.find("\u00e9t\u00e9.js") is not None


@pytest.mark.parametrize("target", ["iframe.html", "/etc/passwd", ".", "nowhere"])
def test_a_link_is_refused_whatever_it_points_at(tmp_path: Path, target: str) -> None:
    (a_storybook(tmp_path) / "link").symlink_to(target)
    with pytest.raises(LinkInBundleError, match="link"):
        hash_folder(tmp_path)


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    a_storybook(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    assert len(hash_folder(tmp_path / "link").manifest.files) == 2


def test_a_pipe_is_refused_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(a_storybook(tmp_path) / "pipe")
    with pytest.raises(NotARegularFileError, match="pipe"):
        hash_folder(tmp_path)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotAFolderError, match="no such folder"):
        hash_folder(tmp_path / "storybook-static")


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAFolderError, match="not a folder"):
        hash_folder(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "error"), [("a\\x", BackslashPathError), ("%2e%2e%2fx", EncodedPathError)]
)
def test_a_name_that_the_server_refuses_is_refused_here(
    tmp_path: Path, name: str, error: type[Exception]
) -> None:
    (a_storybook(tmp_path) / name).write_text("x")
    with pytest.raises(error):
        hash_folder(tmp_path)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (ManifestLimits(max_files=1), "2 files; at most 1 files"),
        (ManifestLimits(max_file_bytes=10), "The file weighs"),
        (ManifestLimits(max_bundle_bytes=20), "The folder weighs"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, limits: ManifestLimits, words: str
) -> None:
    seen: list[int] = []
    with pytest.raises(ManifestTooLargeError, match=words):
        hash_folder(a_storybook(tmp_path), lambda done, total: seen.append(done), limits)
    assert seen == []


def test_a_file_that_vanishes_between_listing_and_hashing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"No such file.*gone\.js"):
        _hash_file(_FoundFile("gone.js", tmp_path / "gone.js", 1))
