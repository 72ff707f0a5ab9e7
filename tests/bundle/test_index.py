import json
from typing import Any

import pytest

from storyshelf.bundle.index import (
    MAX_ENTRIES,
    MAX_ID_BYTES,
    MAX_INDEX_BYTES,
    BadIndexError,
    NoFrameError,
    NoIndexError,
    NoStoriesError,
    Story,
    find_index,
    parse_index,
)
from storyshelf.bundle.manifest import Manifest, parse_manifest
from storyshelf.ids import StoryId

PRIMARY = Story(
    StoryId("button--primary"), "Forms/Button", "Primary", "./Button.stories.tsx", ("dev", "test")
)


def an_entry(story_id: str = "button--primary", **fields: Any) -> dict[str, Any]:
    return {
        "type": "story",
        "id": story_id,
        "title": "Forms/Button",
        "name": "Primary",
        "importPath": "./Button.stories.tsx",
        "tags": ["dev", "test"],
        **fields,
    }


def an_index(*entries: dict[str, Any], v: object = 5, key: str = "entries") -> bytes:
    return json.dumps({"v": v, key: {entry["id"]: entry for entry in entries}}).encode()


def a_manifest(*paths: str) -> Manifest:
    return parse_manifest([{"path": path, "sha256": "0" * 64, "size": 1} for path in paths])


@pytest.mark.parametrize("version", [4, 5])
def test_stories_of_versions_4_and_5_are_read(version: int) -> None:
    index = parse_index(an_index(an_entry(), v=version), "index.json")
    assert (index.version, index.stories, index.warnings) == (version, (PRIMARY,), ())


def test_stories_of_version_3_are_read_and_docs_only_ones_dropped() -> None:
    old = {"id": "a--b", "kind": "A", "story": "B", "parameters": {"fileName": "./a.js"}}
    docs = {"id": "a--docs", "title": "A", "name": "Docs", "parameters": {"docsOnly": True}}
    index = parse_index(an_index(old, docs, v=3, key="stories"), "stories.json")
    assert index.stories == (Story(StoryId("a--b"), "A", "B"),)


def test_a_version_of_the_future_is_tried_with_a_warning() -> None:
    index = parse_index(an_index(an_entry(), v=6), "index.json")
    assert index.stories == (PRIMARY,)
    assert index.warnings == ("index.json has version 6, newer than 5: read as that one",)


@pytest.mark.parametrize(
    "dropped",
    [
        {"type": "docs"},
        {"type": "docs", "tags": ["unattached-mdx"]},
        {"subtype": "test"},
        {"type": "from-the-future"},
    ],
)
def test_docs_and_tests_are_no_stories(dropped: dict[str, Any]) -> None:
    content = an_index(an_entry(), an_entry("button--other", **dropped))
    assert parse_index(content, "index.json").stories == (PRIMARY,)


@pytest.mark.parametrize("version", [4, 5, 9])
def test_docs_pages_stand_beside_the_stories(version: int) -> None:
    docs = an_entry("button--docs", type="docs", name="Docs", tags=["autodocs"], storiesImports=[])
    broken = an_entry("button--broken", type="docs", name=7)
    index = parse_index(an_index(an_entry(), docs, broken, v=version), "index.json")
    assert index.stories == (PRIMARY,)
    page = Story(
        StoryId("button--docs"), "Forms/Button", "Docs", PRIMARY.import_path, ("autodocs",)
    )
    assert index.docs == (page,)


def test_docs_only_entries_of_version_3_are_docs_pages() -> None:
    story = {"id": "a--b", "kind": "A", "story": "B", "parameters": {}}
    docs = {"id": "a--page", "title": "A", "name": "Page", "parameters": {"docsOnly": True}}
    index = parse_index(an_index(story, docs, v=3, key="stories"), "stories.json")
    assert [page.story_id for page in index.docs] == ["a--page"]


def test_a_story_of_subtype_story_is_one() -> None:
    content = an_index(an_entry(subtype="story", exportName="Primary", componentPath="./B.tsx"))
    assert parse_index(content, "index.json").stories == (PRIMARY,)


def test_the_order_of_the_sidebar_is_kept() -> None:
    content = an_index(an_entry("z--a"), an_entry("a--z"), an_entry("m--m"))
    ids = [story.story_id for story in parse_index(content, "index.json").stories]
    assert ids == ["z--a", "a--z", "m--m"]


def test_a_byte_order_mark_is_tolerated() -> None:
    content = b"\xef\xbb\xbf" + an_index(an_entry())
    assert parse_index(content, "index.json").stories == (PRIMARY,)


def test_missing_tags_and_path_are_empty() -> None:
    content = an_index(an_entry(tags=None, importPath=None))
    story = parse_index(content, "index.json").stories[0]
    assert (story.tags, story.import_path) == ((), "")


@pytest.mark.parametrize(
    "story_id", ["a--b--c", "käse--größe", "日本--語", "100%--50%25", "x" * 200, "no-dashes"]
)
def test_unusual_ids_are_kept(story_id: str) -> None:
    content = an_index(an_entry(story_id))
    assert parse_index(content, "index.json").stories[0].story_id == story_id


@pytest.mark.parametrize("entries", [(), (an_entry(type="docs"),), (an_entry(subtype="test"),)])
def test_an_index_without_a_story_has_an_error_of_its_own(
    entries: tuple[dict[str, Any], ...],
) -> None:
    with pytest.raises(NoStoriesError, match="has no stories"):
        parse_index(an_index(*entries), "index.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is an empty file"),
        (b" \n", "is an empty file"),
        (b"{", r"is not JSON: .* \(index.json, line 1, column 2\)"),
        (b"<!doctype html>", "is not JSON"),
        (b'{"v": 5, "entries": "\xff"}', "is not UTF-8 at byte 21"),
        (b"[]", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b"{}", "has no version"),
        (b'{"v": "5"}', "has no version"),
        (b'{"v": true}', "has no version"),
        (b'{"v": 2, "stories": {}}', "has version 2; the oldest readable is 3"),
        (b'{"v": 5}', "has no object `entries`, as version 5 must"),
        (b'{"v": 5, "entries": []}', "has no object `entries`"),
        (b'{"v": 3, "entries": {}}', "has no object `stories`"),
        (b'{"v": 5, "entries": {"a--b": 7}}', r"an entry that is not an object \(.*'a--b'\)"),
        (b"[" * 200_000, "nobody would write"),
        (b'{"v": ' + b"9" * 5000 + b"}", "nobody would write"),
    ],
)
def test_what_cannot_be_read_is_said_precisely(content: bytes, words: str) -> None:
    with pytest.raises(BadIndexError, match=words) as refused:
        parse_index(content, "index.json")
    assert refused.value.next_step


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"type": None}, "no text `type`"),
        ({"type": 1}, "no text `type`"),
        ({"title": None}, "no text `title`"),
        ({"name": {}}, "no text `name`"),
        ({"importPath": 3}, "no text `importPath`"),
        ({"tags": "dev"}, "`tags` that are not a list of texts"),
        ({"tags": [1]}, "`tags` that are not a list of texts"),
        ({"title": "a\0b"}, "`title` with characters that cannot be stored"),
        ({"title": "\ud800"}, "`title` with characters that cannot be stored"),
        ({"title": "x" * 5000}, "`title` longer than 4,000 bytes"),
    ],
)
def test_a_wrong_field_is_named_with_its_story(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(BadIndexError, match=rf"{words} \(index.json, 'button--primary'\)"):
        parse_index(an_index(an_entry(**fields)), "index.json")


def test_an_entry_under_anothers_id_is_refused() -> None:
    content = json.dumps({"v": 5, "entries": {"a--b": an_entry("a--c")}}).encode()
    with pytest.raises(BadIndexError, match=r"says its id is 'a--c' \(index.json, 'a--b'\)"):
        parse_index(content, "index.json")


@pytest.mark.parametrize("story_id", ["", "a\0b", "\udfff", "x" * (MAX_ID_BYTES + 1)])
def test_an_id_that_cannot_be_stored_is_refused(story_id: str) -> None:
    with pytest.raises(BadIndexError):
        parse_index(an_index(an_entry(story_id)), "index.json")


def test_two_ids_that_differ_in_case_only_are_named() -> None:
    with pytest.raises(BadIndexError, match="'a--b', 'A--B'"):
        parse_index(an_index(an_entry("a--b"), an_entry("A--B")), "index.json")


def test_an_index_of_60_mb_is_refused_unread() -> None:
    with pytest.raises(BadIndexError, match="it must be under 60 MB"):
        parse_index(b" " * MAX_INDEX_BYTES, "index.json")


def test_too_many_entries_are_refused() -> None:
    entries = {str(number): 0 for number in range(MAX_ENTRIES + 1)}
    with pytest.raises(BadIndexError, match="20,001 entries"):
        parse_index(json.dumps({"v": 5, "entries": entries}).encode(), "index.json")


def test_the_newer_list_is_found_first() -> None:
    both = a_manifest("iframe.html", "stories.json", "index.json")
    assert find_index(both).path == "index.json"
    assert find_index(a_manifest("iframe.html", "stories.json")).path == "stories.json"


def test_a_bundle_without_a_list_is_told_both_names() -> None:
    with pytest.raises(NoIndexError, match=r"neither index\.json nor stories\.json"):
        find_index(a_manifest("iframe.html", "storybook-static/index.json"))


def test_a_bundle_without_the_frame_is_told_so() -> None:
    with pytest.raises(NoFrameError, match=r"no iframe\.html"):
        find_index(a_manifest("index.json", "sub/iframe.html"))
