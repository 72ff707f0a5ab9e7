import pytest

from storyshelf.client.build_address import (
    BadBuildAddressError,
    BuildAddress,
    OtherBuildError,
    parse_build,
    require_same_build,
)

PAGE = "https://shelf.test/projects/demo/builds/12"


@pytest.mark.parametrize("text", ["12", "#12", " 12 "])
def test_a_number_is_a_build_of_the_tokens_project(text: str) -> None:
    assert parse_build(text) == BuildAddress(12)


@pytest.mark.parametrize("text", [PAGE, f"{PAGE}/", f"{PAGE}?verdict=changed", f"{PAGE}/x#y"])
def test_any_page_of_a_build_names_it(text: str) -> None:
    assert parse_build(text) == BuildAddress(12, PAGE, "https://shelf.test")


def test_a_server_under_a_path_keeps_the_path() -> None:
    found = parse_build("http://host:8080/shelf/projects/demo/builds/3")
    assert found.server == "http://host:8080/shelf"


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "1.5", "twelve", "9" * 30, "https://shelf.test/builds", "ftp://a/builds/1"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadBuildAddressError):
        parse_build(text)


def test_another_servers_build_of_the_same_number_is_not_reported() -> None:
    with pytest.raises(OtherBuildError, match=r"other\.test"):
        require_same_build(parse_build(PAGE), "https://other.test/projects/demo/builds/12")
    require_same_build(parse_build(PAGE), PAGE)
    require_same_build(parse_build("12"), "https://other.test/projects/demo/builds/12")
