"""What a path names, before anything is looked up."""

import pytest

from storyshelf.ids import SnapshotId
from storyshelf.publishing.address import (
    Address,
    Entrance,
    Front,
    InBranch,
    InBuild,
    TraceFile,
    ViewerFile,
    parse_address,
)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/", Front()),
        ("/enter", Entrance()),
        ("/builds/7", InBuild(7, "", is_bare=True)),
        ("/builds/7/", InBuild(7, "")),
        ("/builds/7/a/b.js", InBuild(7, "a/b.js")),
        ("/builds/7/a/", InBuild(7, "a/")),
        ("/builds/2147483647/a", InBuild(2**31 - 1, "a")),
        ("/builds/7/100%25.svg", InBuild(7, "100%.svg")),
        ("/builds/7/enter", InBuild(7, "enter")),
        ("/branches/main", InBranch("main", "")),
        ("/branches/main/a/b.js", InBranch("main", "a/b.js")),
        ("/branches/a%2Fb/c.js", InBranch("a/b", "c.js")),
        ("/branches/a/b/c.js", InBranch("a", "b/c.js")),
        ("/branches/%F0%9F%90%9B/", InBranch("🐛", "")),
        ("/branches/..%2F..%2Fetc/", InBranch("../../etc", "")),
        ("/branches/%252F/", InBranch("%2F", "")),
        ("/traces/7.zip", TraceFile(SnapshotId(7))),
        ("/trace-viewer/assets/a.js", ViewerFile("assets/a.js")),
    ],
)
def test_a_path_names_one_thing(path: str, named: Address) -> None:
    assert parse_address(path) == named


@pytest.mark.parametrize(
    "path",
    [
        "//",
        "/enter/",
        "/Enter",
        "/builds",
        "/builds/",
        "/builds/+7/",
        "/builds/\u0667/",
        "/builds/7/a//b",
        "/builds/7//",
        "/builds/7/./a",
        "/builds/7/../8/a",
        "/builds/7/%2e%2e/8/a",
        "/builds/7/%252e%252e/8/a",
        "/builds/7/..%5c8%5ca",
        "/builds/7/%2Fetc",
        "/builds/7/C:/a",
        "/builds/2147483648/",
        "/branches/main//evil.test",
        "/branches/main/%0d%0aa",
        "/other",
        *("/traces/", "/traces/7", "/traces/07.zip", "/traces/7.zip/", "/traces/\u0667.zip"),
        *("/traces/1000000000000000000.zip", "/trace-viewer"),
        "http://evil.test/builds/7/",
    ],
)
def test_what_cannot_be_there_is_not_looked_up(path: str) -> None:
    assert parse_address(path) is None


def test_a_location_leads_back_to_the_address_it_was_made_of() -> None:
    there = InBuild(7, "Bild ümlaut 100%/a?b#c.svg")
    assert parse_address(there.location) == there
    assert there.location == "/builds/7/Bild%20%C3%BCmlaut%20100%25/a%3Fb%23c.svg"
