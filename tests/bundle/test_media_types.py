"""What browsers are told that files are."""

import pytest

from storyshelf.bundle.media_types import media_type


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/B.MJS", "text/javascript"),
        ("mockServiceWorker.js", "text/javascript"),
        ("main.js.map", "application/json"),
        ("intro.mdx", "text/markdown"),
        ("font.woff2", "font/woff2"),
        ("icon.svg", "image/svg+xml"),
        ("photo.avif", "image/avif"),
        ("photo.webp", "image/webp"),
        ("engine.wasm", "application/wasm"),
        ("index.json", "application/json"),
        ("picture.png", "image/png"),
        ("LICENSE", "application/octet-stream"),
        ("folder.js/LICENSE", "application/octet-stream"),
        ("what.ever", "application/octet-stream"),
        (".html", "text/html"),
        ("", "application/octet-stream"),
    ],
)
def test_files_are_called_what_a_browser_accepts(path: str, expected: str) -> None:
    assert media_type(path) == expected
