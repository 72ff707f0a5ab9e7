import hashlib
from itertools import permutations

import pytest

from storyshelf.bundle.manifest import (
    BadEntryError,
    BadHashError,
    BundledFile,
    DuplicatePathError,
    FileAndFolderError,
    Manifest,
    ManifestLimits,
    ManifestTooLargeError,
    TwoSizesError,
    parse_manifest,
)
from storyshelf.bundle.paths import TraversalPathError
from storyshelf.errors import StoryshelfError
from storyshelf.ids import BlobKey

SHA = hashlib.sha256(b"").hexdigest()
OTHER = hashlib.sha256(b"other").hexdigest()


def entry(path: str = "a", sha256: str = SHA, size: object = 1) -> dict[str, object]:
    return {"path": path, "sha256": sha256, "size": size}


def test_files_are_sorted_and_weighed() -> None:
    manifest = parse_manifest([entry("b", size=2), entry("a", OTHER, size=3)])
    assert manifest.files == (
        BundledFile("a", BlobKey(OTHER), 3),
        BundledFile("b", BlobKey(SHA), 2),
    )
    assert manifest.total_bytes == 5


def test_a_manifest_made_of_rows_in_another_order_finds_all_its_files() -> None:
    files = parse_manifest([entry(path) for path in ("B", "_", "a", "a-b", "b/c", "é")]).files
    manifest = Manifest(files[::-1])
    assert manifest.files == files
    assert [manifest.find(file.path) for file in files] == list(files)


def test_an_empty_list_is_an_empty_bundle() -> None:
    assert parse_manifest([]).files == ()


def test_the_digest_is_of_the_content_not_of_the_order() -> None:
    raw = [entry("a"), entry("b"), entry("c", OTHER, size=0)]
    assert len({parse_manifest(order).digest for order in permutations(raw)}) == 1
    assert parse_manifest(raw).digest != parse_manifest(raw[:2]).digest
    assert parse_manifest([entry("a")]).digest != parse_manifest([entry("b")]).digest


def test_a_file_is_found_by_either_unicode_form_and_nothing_else() -> None:
    manifest = parse_manifest([entry("\u00e9.js"), entry("z.js"), entry("a/b.js")])
    found = manifest.find("e\u0301.js")
    assert found is not None
    assert found.path == "\u00e9.js"
    assert manifest.find("a") is None
    assert manifest.find("zz") is None


@pytest.mark.parametrize(
    "raw", [None, 7, "a", [], {}, {"path": "a"}, {"path": 1, "sha256": SHA, "size": 1}]
)
def test_an_entry_of_another_shape_is_named_by_its_place(raw: object) -> None:
    with pytest.raises(BadEntryError, match=r"Entry 1 .*files\[1\]"):
        parse_manifest([entry("ok"), raw])


@pytest.mark.parametrize("size", [-1, 1.0, "1", None, True])
def test_a_size_that_is_no_count_of_bytes_is_refused(size: object) -> None:
    with pytest.raises(BadEntryError, match=r"'big\.js'.* has no size"):
        parse_manifest([entry("big.js", size=size)])


@pytest.mark.parametrize("sha256", ["", SHA[:-1], SHA + "0", SHA.upper(), "g" * 64, f"{SHA}\n"])
def test_a_hash_of_another_form_is_refused(sha256: str) -> None:
    with pytest.raises(BadHashError, match=r"is not a sha256 \('x\.js'\)"):
        parse_manifest([entry("x.js", sha256)])


def test_a_path_is_judged_by_its_own_rules() -> None:
    with pytest.raises(TraversalPathError):
        parse_manifest([entry("../x")])


@pytest.mark.parametrize("twin", ["\u00e9.js", "e\u0301.js"])
def test_one_path_twice_is_refused_also_in_another_unicode_form(twin: str) -> None:
    with pytest.raises(DuplicatePathError, match="listed twice"):
        parse_manifest([entry("\u00e9.js"), entry("other"), entry(twin)])


def test_one_content_cannot_have_two_sizes() -> None:
    assert parse_manifest([entry("a", size=1), entry("b", size=1)]).total_bytes == 2
    with pytest.raises(TwoSizesError, match="one hash and two sizes"):
        parse_manifest([entry("a", size=1), entry("b", OTHER, size=2), entry("c", size=2)])


@pytest.mark.parametrize("inside", ["a/b", "a/b/c"])
def test_a_file_cannot_be_a_folder_too(inside: str) -> None:
    with pytest.raises(FileAndFolderError, match="'a' is a file, and the folder of"):
        parse_manifest([entry("a-b"), entry("a"), entry(inside)])


def test_names_that_differ_in_case_are_kept_and_reported() -> None:
    manifest = parse_manifest([entry("Button.js"), entry("button.js"), entry("card.js")])
    assert len(manifest.files) == 3
    assert manifest.case_collisions() == (("Button.js", "button.js"),)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (ManifestLimits(max_files=1), "2 files; at most 1 files"),
        (ManifestLimits(max_file_bytes=9), "weighs 10 bytes; at most 9 bytes"),
        (ManifestLimits(max_bundle_bytes=19), "weighs 20 bytes; at most 19 bytes"),
    ],
)
def test_one_over_a_limit_is_refused_and_the_limit_itself_is_not(
    limits: ManifestLimits, words: str
) -> None:
    raw = [entry("a", size=10), entry("b", size=10)]
    with pytest.raises(ManifestTooLargeError, match=words) as refused:
        parse_manifest(raw, limits)
    assert refused.value.http_status == 413
    assert parse_manifest(raw, ManifestLimits(2, 10, 20)).total_bytes == 20


def test_a_bundle_of_25_000_files_passes_and_one_more_does_not() -> None:
    raw = [entry(f"assets/{number}.js") for number in range(25_000)]
    assert len(parse_manifest(raw).files) == 25_000
    with pytest.raises(ManifestTooLargeError):
        parse_manifest([*raw, entry("one-more")])


def test_every_refusal_tells_what_to_do_next() -> None:
    for raw in ([None], [entry(sha256="x")], [entry("a"), entry("a")], [entry("a"), entry("a/b")]):
        with pytest.raises(StoryshelfError) as refused:
            parse_manifest(raw)
        assert refused.value.what
        assert refused.value.where
        assert refused.value.next_step
