"""Where a Storybook was built to be served from."""

import pytest

from storyshelf.bundle.base import MAX_HTML, base_of

PATHS = {"iframe.html", "assets/iframe-1a2b.js", "favicon.svg", "sb-addons/a.js"}


@pytest.mark.parametrize(
    ("html", "base"),
    [
        ("", "/"),
        ('<script type="module" src="./assets/iframe-1a2b.js"></script>', "/"),
        ('<script type="module" src="/assets/iframe-1a2b.js"></script>', "/"),
        ('<script type="module" crossorigin src="/ui/assets/iframe-1a2b.js"></script>', "/ui/"),
        ("<link rel=icon href='/some/path/favicon.svg?v=1'>", "/some/path/"),
        ('<script type="module">import "/some/path/sb-addons/a.js";</script>', "/some/path/"),
        ('<script type="module">import("/some/path/sb-addons/a.js");</script>', "/some/path/"),
        ('<link href="/missing.css"><link href="/x/favicon.svg">', "/x/"),
        ('<link href="//cdn.test/favicon.svg"><link href="/x/favicon.svg">', "/x/"),
        ('<link href="/">', "/"),
        ('<link href="/missing.css">', "/"),
    ],
)
def test_the_base_stands_before_the_first_file_that_is_named(html: str, base: str) -> None:
    assert base_of(html, PATHS) == base


def test_a_preview_of_any_size_is_searched_to_a_bound() -> None:
    assert base_of('<a href="/nothing">' * 100_000, PATHS) == "/"
    assert base_of(" " * MAX_HTML + '<link href="/x/favicon.svg">', PATHS) == "/"
